#pragma once

#include <barrier>
#include <memory>

#include "exchange/file_team.h"
#include "faults/inspector.h"
#include "faults/script.h"
#include "faults/world.h"
#include "steps/engine/driver.h"

namespace headrace::faults {

/// One rank of a script: what it does with the file, where the injector may strike. Errors of
/// memory come as the library gives them to the program.
class Rank : private Driver {
 public:
  Rank(const Script& script, int rank, World& world, std::barrier<>& meeting)
      : Driver(kDataSeed, rank), script_(script), rank_(rank), world_(world), meeting_(meeting) {}

  Error join(std::unique_ptr<fabric::Messenger> messenger);
  Got open();
  Got take(const Step& step);
  Got close();
  /// Lets go of the team. Whether all slots and places have been returned.
  Error leave();

  using Driver::is_open;
  bool has_team() const { return team_ != nullptr; }
  bool shares_memory() const {
    const topo::NodeMap& nodes = team_->ranks().nodes();
    return nodes.node_count() == 1 && nodes.size() > 1;
  }

 private:
  Error call(const std::function<Error()>& calls) override;
  std::int64_t shared_position();
  Got take_from(const Step& step, ByteCount begin);
  Got access(const Step& step);

  const Script& script_;
  int rank_;
  World& world_;
  std::barrier<>& meeting_;
  std::shared_ptr<exchange::FileTeam> team_;
};

}  // namespace headrace::faults
