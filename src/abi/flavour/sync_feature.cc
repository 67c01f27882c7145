// A barrier before collective operations, by the library's own PMPI_Barrier.
#include <array>
#include <cstdint>

#include "abi/flavour/communicator_team.h"
#include "abi/flavour/job.h"
#include "abi/flavour/kept_with_communicator.h"
#include "abi/flavour/sync.h"
#include "abi/generated/features.h"
#include "base/message.h"
#include "base/settings.h"
#include "collective/sync_plan.h"
#include "record/clock.h"
#include "record/recorder.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace sync {
namespace {

const collective::SyncPlan& plan() {
  static const auto& read =
      *new collective::SyncPlan(collective::read_sync_plan(settings().coll_sync, operations));
  return read;
}

/// What is known of a communicator, and how often each operation was called on it.
class SyncedCommunicator {
 public:
  explicit SyncedCommunicator(MPI_Comm communicator) {
    int is_inter = 0;
    int size = 1;
    if (native.Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS || is_inter != 0) return;
    if (native.Comm_size(communicator, &size) != MPI_SUCCESS || size == 1) return;
    const auto inside = lies_in_world(communicator);
    takes_part_ = inside && inside.value();
  }

  bool is_turn(std::size_t operation, std::int64_t every) {
    return takes_part_ && ++calls_[operation] % every == 0;
  }

 private:
  bool takes_part_ = false;
  std::array<std::int64_t, kOperations> calls_{};
};

bool is_wanted(const Settings&) {
  return !plan().is_empty() || !plan().problems.empty();
}

abi::Start start() {
  if (!is_initialized()) return abi::Start::unneeded;
  if (rank_in_job() == 0) {
    for (const std::string& problem : plan().problems) print_message(problem);
  }
  if (plan().is_empty()) return abi::Start::unneeded;
  return KeptWithCommunicator<SyncedCommunicator>::start() ? abi::Start::started
                                                           : abi::Start::refused;
}

/// Nothing can be kept with the communicator, so this rank cannot count: only a barrier before each
/// call needs no count. A rank that lacks so little memory ends soon, and with it the others.
bool is_turn_uncounted(MPI_Comm communicator, std::size_t operation, std::int64_t every) {
  return every == 1 && SyncedCommunicator(communicator).is_turn(operation, every);
}

}  // namespace

void before(int operation, MPI_Comm communicator) noexcept {
  const auto index = static_cast<std::size_t>(operation);
  const std::int64_t every = plan().every[index];
  if (every == 0) return;
  using Kept = KeptWithCommunicator<SyncedCommunicator>;
  if (communicator == MPI_COMM_NULL || !Kept::is_running()) return;
  SyncedCommunicator* const own = Kept::find(communicator);
  const bool is_turn =
      own != nullptr ? own->is_turn(index, every) : is_turn_uncounted(communicator, index, every);
  if (!is_turn) return;
  record::ThreadRecord* const thread = record::this_thread();
  const std::int64_t begin = thread != nullptr ? record::ticks() : 0;
  native.Barrier(communicator);
  if (thread != nullptr) thread->set_apart(record::ticks() - begin);
}

}  // namespace sync

const abi::Feature sync_feature = {
    abi::FeatureId::sync, "barriers before collective operations",
    sync_wrappers,        &sync::is_wanted,
    &sync::start,         &KeptWithCommunicator<sync::SyncedCommunicator>::stop};

}  // namespace headrace::HEADRACE_FLAVOUR
