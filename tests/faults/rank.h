#pragma once

#include <barrier>
#include <memory>
#include <vector>

#include "exchange/file_team.h"
#include "faults/injector.h"
#include "faults/inspector.h"
#include "faults/script.h"
#include "faults/world.h"
#include "file/file.h"

namespace headrace::faults {

/// One rank of a script: what it does with the file. Errors of memory come as the library gives
/// them to the program.
class Rank {
 public:
  Rank(const Script& script, int rank, World& world, std::barrier<>& meeting)
      : script_(script), rank_(rank), world_(world), meeting_(meeting) {}

  Error join(std::unique_ptr<fabric::Messenger> messenger);
  Got open();
  Got take(const Step& step);
  Got close();
  /// Lets go of the team. Whether all slots and places have been returned.
  Error leave();

  bool has_team() const { return team_ != nullptr; }
  bool is_open() const { return file_ != nullptr; }
  bool shares_memory() const {
    const topo::NodeMap& nodes = team_->ranks().nodes();
    return nodes.node_count() == 1 && nodes.size() > 1;
  }

 private:
  template <class Call>
  Error in_engine(Call call);
  std::int64_t shared_position();
  Got transfer(const Step& step);
  void carry_out(const Step& step, const file::TransferCall& call, Got& got);
  Got set_view(const Step& step);
  bool is_invalid(const Step& step) const { return step.invalid_rank == rank_; }

  const Script& script_;
  int rank_;
  World& world_;
  std::barrier<>& meeting_;
  std::shared_ptr<exchange::FileTeam> team_;
  std::unique_ptr<file::File> file_;
};

}  // namespace headrace::faults
