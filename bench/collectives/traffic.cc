#include "collectives/traffic.h"

#include <cstdint>
#include <iterator>

namespace headrace::bench::collectives {

Traffic::Traffic(const World& world, const Functions& own, bool wanted) : world_(world), own_(own) {
  if (!wanted || world.node_count < 2) return;
  MPI_Comm_split_type(world.communicator, MPI_COMM_TYPE_SHARED, world.rank, MPI_INFO_NULL, &node_);
  int rank = 0;
  MPI_Comm_rank(node_, &rank);
  reads_ = rank == 0;
  const int mine = !reads_ || sent_so_far().has_value() ? 1 : 0;
  int all = 0;
  own_.allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world.communicator);
  counts_ = all == 1;
}

Traffic::~Traffic() {
  if (node_ != MPI_COMM_NULL) MPI_Comm_free(&node_);
}

Sent Traffic::read() {
  own_.barrier(node_);
  const Sent found = reads_ ? sent_so_far().value_or(Sent{}) : Sent{};
  own_.barrier(node_);
  return found;
}

Sent Traffic::end() {
  const Sent now = read();
  const std::int64_t mine[] = {now.bytes - before_.bytes, now.packets - before_.packets};
  std::int64_t all[std::size(mine)] = {};
  own_.allreduce(mine, all, static_cast<int>(std::size(mine)), MPI_INT64_T, MPI_SUM,
                 world_.communicator);
  return {all[0], all[1]};
}

}  // namespace headrace::bench::collectives
