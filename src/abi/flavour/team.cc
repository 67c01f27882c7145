#include "abi/flavour/team.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <vector>

#include "abi/flavour/attribute.h"
#include "abi/flavour/error.h"
#include "abi/flavour/messenger.h"
#include "topo/node.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

using TeamPtr = std::shared_ptr<exchange::Team>;

/// The attribute that holds a communicator's team, a TeamPtr on the heap.
int team_keyval = MPI_KEYVAL_INVALID;

/// Whether all ranks of the communicator are in this process's MPI_COMM_WORLD.
Result<bool> lies_in_world(MPI_Comm communicator) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  if (native.Comm_group(communicator, &group) != MPI_SUCCESS ||
      native.Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS) {
    return native_failure("find the ranks of a communicator");
  }
  int size = 0;
  native.Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> world_ranks(ranks.size(), MPI_UNDEFINED);
  const int code =
      native.Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
  native.Group_free(&group);
  native.Group_free(&world);
  if (code != MPI_SUCCESS) return native_failure("find the ranks of a communicator");
  return std::find(world_ranks.begin(), world_ranks.end(), MPI_UNDEFINED) == world_ranks.end();
}

/// All communicators of one process share this team.
Result<TeamPtr> solo_team() {
  static std::mutex& mutex = *new std::mutex;
  static TeamPtr& team = *new TeamPtr;
  const std::lock_guard lock(mutex);
  if (team == nullptr) {
    auto made = exchange::Team::create(make_solo_messenger(), "");
    if (!made) return made;
    team = made.value();
  }
  return team;
}

/// Collective over the communicator. MPI_Comm_split rather than MPI_Comm_dup: it copies none of the
/// program's attributes.
Result<TeamPtr> make_team(MPI_Comm communicator) {
  int is_intercommunicator = 0;
  if (native.Comm_test_inter(communicator, &is_intercommunicator) != MPI_SUCCESS) {
    return native_failure("examine a communicator");
  }
  if (is_intercommunicator) return TeamPtr();
  const auto inside = lies_in_world(communicator);
  if (!inside) return inside.error();
  if (!inside.value()) return TeamPtr();

  int rank = 0;
  MPI_Comm hidden = MPI_COMM_NULL;
  native.Comm_rank(communicator, &rank);
  if (native.Comm_split(communicator, 0, rank, &hidden) != MPI_SUCCESS) {
    return native_failure("make a communicator");
  }
  native.Comm_set_errhandler(hidden, MPI_ERRORS_RETURN);
  return exchange::Team::create(make_messenger(hidden), topo::node_identity());
}

}  // namespace

Result<TeamPtr> team_of(MPI_Comm communicator) {
  int size = 0;
  int is_intercommunicator = 0;
  if (native.Comm_size(communicator, &size) != MPI_SUCCESS ||
      native.Comm_test_inter(communicator, &is_intercommunicator) != MPI_SUCCESS) {
    return native_failure("examine a communicator");
  }
  if (size == 1 && !is_intercommunicator) return solo_team();

  TeamPtr* kept = nullptr;
  int found = 0;
  if (native.Comm_get_attr(communicator, team_keyval, &kept, &found) == MPI_SUCCESS && found) {
    return *kept;
  }
  auto made = make_team(communicator);
  if (!made) return made;
  auto owned = std::make_unique<TeamPtr>(made.value());
  if (native.Comm_set_attr(communicator, team_keyval, owned.get()) != MPI_SUCCESS) {
    return native_failure("keep a team with its communicator");
  }
  owned.release();  // now owned by the attribute, see start_teams
  return made;
}

bool start_teams() {
  return native.Comm_create_keyval(&do_not_copy<MPI_Comm>, &delete_value<MPI_Comm, TeamPtr>,
                                   &team_keyval, nullptr) == MPI_SUCCESS;
}

}  // namespace headrace::HEADRACE_FLAVOUR
