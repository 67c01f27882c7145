#include "abi/flavour/communicator_team.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <numeric>
#include <string>

#include "abi/flavour/attribute.h"
#include "abi/flavour/communicator_messenger.h"
#include "abi/flavour/error.h"
#include "abi/flavour/job.h"
#include "topo/node.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

using TeamPtr = std::shared_ptr<fabric::Team>;
using FileTeamPtr = std::shared_ptr<exchange::FileTeam>;

/// What is kept with a communicator: its team, and the file team. Only few are kept: each has a
/// communicator of its own, of which MPICH has at most 2048, and a descriptor. Others last while
/// files are open.
class StayingTeam {
 public:
  StayingTeam() { ++number; }
  ~StayingTeam() { --number; }
  StayingTeam(const StayingTeam&) = delete;
  StayingTeam& operator=(const StayingTeam&) = delete;

  /// Whether one more, which the caller has made already, may be kept.
  static bool has_room() { return number.load() <= kMaxTeams; }

  TeamPtr ranks;      ///< null if another rank could not keep it: then this is as nothing
  FileTeamPtr files;  ///< set at the first file

 private:
  static constexpr int kMaxTeams = 64;
  static inline std::atomic<int> number = 0;
};

/// The attribute that holds a communicator's team, a StayingTeam on the heap. MPI_KEYVAL_INVALID
/// with sessions only, when nothing is kept, and if MPI refuses.
int keyval_of_teams() {
  static auto& keyval = *new Keyval([](int* made) {
    return native.Comm_create_keyval(&do_not_copy<MPI_Comm>, &delete_value<MPI_Comm, StayingTeam>,
                                     made, nullptr);
  });
  return is_initialized() ? keyval.get() : MPI_KEYVAL_INVALID;
}

/// The team that all communicators of one process share.
Result<FileTeamPtr> solo_team() {
  static std::mutex& mutex = *new std::mutex;
  static FileTeamPtr& team = *new FileTeamPtr;
  const std::lock_guard lock(mutex);
  if (team == nullptr) {
    auto made = exchange::FileTeam::create(make_solo_messenger(), "");
    if (!made) return made;
    team = made.value();
  }
  return team;
}

/// Collective over the communicator. `failed`: see make_messenger(). `can_stay`: whether this rank
/// can keep the team.
Result<TeamPtr> make_team(MPI_Comm communicator, Error failed, bool can_stay) {
  int is_intercommunicator = 0;
  if (native.Comm_test_inter(communicator, &is_intercommunicator) != MPI_SUCCESS) {
    return native_failure("examine a communicator");
  }
  if (is_intercommunicator) return TeamPtr();
  const auto inside = lies_in_world(communicator);
  if (!inside) return inside.error();
  if (!inside.value()) return TeamPtr();

  std::string node;
  if (!failed) {
    failed = attempt([&]() -> Error {
      node = topo::node_identity();
      return {};
    });
  }
  auto messenger = make_messenger(communicator, failed);
  if (!messenger) return messenger.error();
  return fabric::Team::create(std::move(messenger.value()), node, exchange::FileChannel::needs(),
                              can_stay && StayingTeam::has_room());
}

/// What is kept with the communicator; null if nothing is.
StayingTeam* kept_with(MPI_Comm communicator) {
  StayingTeam* kept = nullptr;
  int found = 0;
  const int keyval = keyval_of_teams();
  if (keyval == MPI_KEYVAL_INVALID) return nullptr;
  const int code = native.Comm_get_attr(communicator, keyval, &kept, &found);
  return code == MPI_SUCCESS && found && kept->ranks != nullptr ? kept : nullptr;
}

/// Collective: makes the team of a communicator without one. Sets `kept` to what is kept, if
/// anything.
Result<TeamPtr> make_and_keep(MPI_Comm communicator, StayingTeam*& kept) {
  const int keyval = keyval_of_teams();
  std::unique_ptr<StayingTeam> owned;
  const Error lacking = attempt([&]() -> Error {
    owned = std::make_unique<StayingTeam>();
    return {};
  });
  auto made = make_team(communicator, lacking, keyval != MPI_KEYVAL_INVALID);
  if (!made || owned == nullptr || made.value() == nullptr || !made.value()->may_stay())
    return made;
  StayingTeam* const staying = owned.get();
  const Error refused = attempt([&]() -> Error {
    if (native.Comm_set_attr(communicator, keyval, staying) != MPI_SUCCESS) {
      return native_failure("keep a team with its communicator");
    }
    static_cast<void>(owned.release());  // now owned by the attribute
    return {};
  });
  if (Error error = made.value()->agree(refused)) return error;
  staying->ranks = made.value();
  kept = staying;
  return made;
}

}  // namespace

Result<bool> lies_in_world(MPI_Comm communicator) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  if (native.Comm_group(communicator, &group) != MPI_SUCCESS ||
      group_of_job(&world) != MPI_SUCCESS) {
    return native_failure("find the ranks of a communicator");
  }
  int size = 0;
  native.Group_size(group, &size);
  // In parts, without taking memory: a rank that lacks memory must find the same answer.
  std::array<int, 256> ranks;
  std::array<int, 256> world_ranks;
  int code = MPI_SUCCESS;
  bool inside = true;
  for (int begin = 0; begin < size && inside && code == MPI_SUCCESS;) {
    const int count = std::min(size - begin, static_cast<int>(ranks.size()));
    std::iota(ranks.begin(), ranks.begin() + count, begin);
    code = native.Group_translate_ranks(group, count, ranks.data(), world, world_ranks.data());
    const auto end = world_ranks.begin() + count;
    inside = std::find(world_ranks.begin(), end, MPI_UNDEFINED) == end;
    begin += count;
  }
  native.Group_free(&group);
  native.Group_free(&world);
  if (code != MPI_SUCCESS) return native_failure("find the ranks of a communicator");
  return inside;
}

Result<FileTeamPtr> file_team_of(MPI_Comm communicator) {
  int size = 0;
  int is_intercommunicator = 0;
  if (native.Comm_size(communicator, &size) != MPI_SUCCESS ||
      native.Comm_test_inter(communicator, &is_intercommunicator) != MPI_SUCCESS) {
    return native_failure("examine a communicator");
  }
  if (size == 1 && !is_intercommunicator) return solo_team();

  StayingTeam* kept = kept_with(communicator);
  if (kept != nullptr && kept->files != nullptr) return kept->files;
  Result<TeamPtr> ranks =
      kept != nullptr ? Result<TeamPtr>(kept->ranks) : make_and_keep(communicator, kept);
  if (!ranks) return ranks.error();
  if (ranks.value() == nullptr) return FileTeamPtr();
  Result<FileTeamPtr> files = exchange::FileTeam::create(std::move(ranks.value()));
  if (files && kept != nullptr) kept->files = files.value();
  return files;
}

Result<TeamPtr> staying_team_of(MPI_Comm communicator) {
  StayingTeam* kept = kept_with(communicator);
  if (kept != nullptr) return kept->ranks;
  const Result<TeamPtr> made = make_and_keep(communicator, kept);
  if (!made) return made.error();
  return kept == nullptr ? TeamPtr() : made.value();
}

bool start_teams() {
  return !is_initialized() || keyval_of_teams() != MPI_KEYVAL_INVALID;
}

}  // namespace headrace::HEADRACE_FLAVOUR
