#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "exchange/shared_pointer_client.h"
#include "exchange/shared_pointer_service.h"
#include "fabric/team.h"

namespace headrace::exchange {

/// How the ranks of a team move the shared pointers of its files, which lie in memory of the first
/// rank's node: where there are several nodes the first rank's process serves those of the others.
class SharedPointers {
 public:
  /// Collective over the team. Where it is one node, nothing is started and nobody is asked.
  Error start(fabric::Team& team);

  /// The first node's calls: of the file with that channel. Others' do nothing.
  void add(int channel, SharedPointer& pointer);
  void remove(int channel);

  /// The call of a rank on another node than the first: as SharedPointerClient::advance.
  Result<std::int64_t> advance(int channel, int cell, std::int64_t etypes) {
    return client_->advance(channel, cell, etypes);
  }

 private:
  std::unique_ptr<SharedPointerService::Host> host_;  ///< the first rank's
  std::optional<SharedPointerClient> client_;
};

}  // namespace headrace::exchange
