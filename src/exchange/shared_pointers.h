#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "exchange/shared_pointer_client.h"
#include "exchange/shared_pointer_service.h"
#include "fabric/team.h"

namespace headrace::exchange {

/// Moves the shared pointers of a team's files. They lie in the memory of the first rank's node; if
/// there are several nodes, the first rank's process serves the ranks of the others.
class SharedPointers {
 public:
  /// Collective over the team. On one node it does nothing.
  Error start(fabric::Team& team);

  /// Called by ranks of the first node for the file with that channel; on other nodes they do
  /// nothing.
  void add(int channel, SharedPointer& pointer);
  void remove(int channel);

  /// Called by ranks of other nodes than the first: see SharedPointerClient::advance.
  Result<std::int64_t> advance(int channel, int cell, std::int64_t etypes) {
    return client_->advance(channel, cell, etypes);
  }

 private:
  std::unique_ptr<SharedPointerService::Host> host_;  ///< on the first rank only
  std::optional<SharedPointerClient> client_;
};

}  // namespace headrace::exchange
