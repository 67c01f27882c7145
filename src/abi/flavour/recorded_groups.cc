#include "abi/flavour/recorded_groups.h"

#include <algorithm>
#include <numeric>

#include "record/job_mark.h"
#include "record/node_ranks.h"
#include "record/recorder.h"

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

constexpr int kMostAsked = 16384;

/// The group of a communicator that messages go to, and that of MPI_COMM_WORLD.
class Groups {
 public:
  Groups(MPI_Comm communicator, bool is_inter) {
    const int code = is_inter ? native.Comm_remote_group(communicator, &own_)
                              : native.Comm_group(communicator, &own_);
    are_there_ = code == MPI_SUCCESS && native.Comm_group(MPI_COMM_WORLD, &world_) == MPI_SUCCESS;
  }
  ~Groups() {
    if (own_ != MPI_GROUP_NULL) native.Group_free(&own_);
    if (world_ != MPI_GROUP_NULL) native.Group_free(&world_);
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  bool are_there() const { return are_there_; }
  MPI_Group own() const { return own_; }
  MPI_Group world() const { return world_; }

 private:
  MPI_Group own_ = MPI_GROUP_NULL;
  MPI_Group world_ = MPI_GROUP_NULL;
  bool are_there_ = false;
};

}  // namespace

bool has_ranks_of_world(MPI_Comm communicator, int size) {
  if (communicator == MPI_COMM_WORLD) return true;
  int world_size = 0;
  if (native.Comm_size(MPI_COMM_WORLD, &world_size) != MPI_SUCCESS || size != world_size) {
    return false;
  }
  const Groups groups(communicator, false);
  int result = MPI_UNEQUAL;
  if (groups.are_there()) native.Group_compare(groups.own(), groups.world(), &result);
  return result == MPI_IDENT;
}

std::vector<std::int32_t> members_of(MPI_Comm communicator, int size) {
  std::vector<int> own_ranks(static_cast<std::size_t>(size));
  std::vector<std::int32_t> members(own_ranks.size());
  std::iota(own_ranks.begin(), own_ranks.end(), 0);
  const Groups groups(communicator, false);
  const bool is_known = groups.are_there() &&
                        native.Group_translate_ranks(groups.own(), size, own_ranks.data(),
                                                     groups.world(), members.data()) == MPI_SUCCESS;
  if (!is_known || std::ranges::count(members, MPI_UNDEFINED) != 0) return {};
  return members;
}

int rank_in_world(MPI_Comm communicator, bool is_inter, int peer) {
  const Groups groups(communicator, is_inter);
  int found = MPI_UNDEFINED;
  if (groups.are_there()) {
    native.Group_translate_ranks(groups.own(), 1, &peer, groups.world(), &found);
  }
  return found;
}

int ranks_on_node(MPI_Comm communicator, bool is_inter, int size) {
  const record::JobMark& job = record::job_mark();
  if (size == 1 || job.is_on_one_node()) return size;
  if (is_inter || size > kMostAsked) return -1;
  // Its ranks may not have come out of MPI_Init yet; those of all others have.
  if (communicator == MPI_COMM_WORLD) return job.ranks_on_node > 0 ? job.ranks_on_node : -1;
  const std::vector<std::int32_t> members = members_of(communicator, size);
  return members.empty() ? -1 : record::count_on_node(members);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
