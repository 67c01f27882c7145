#include "abi/flavour/recorded_waits.h"

#include "abi/flavour/recorded_communicator.h"
#include "record/collective_waits.h"
#include "record/recorder.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

void meet(const Measured& call, MPI_Comm communicator, record::Meeting meeting, int root,
          std::uint32_t operation) noexcept {
  record::CollectiveWaits* const waits = record::collective_waits();
  if (waits == nullptr) return;
  const std::uint32_t thread = call.thread->number();
  const int log = entry_log_of(communicator, thread);
  if (log < 0) return;
  constexpr std::uint32_t kOperations = 32;
  constexpr std::uint32_t kBarrierBefore = kOperations - 1;
  if (call.barrier != nullptr) {
    waits->add(log, thread,
               {record::Meeting::all, 0, kBarrierBefore, call.barrier_begin, call.begin},
               *call.barrier);
  }
  const std::uint32_t mark = operation + kOperations * static_cast<std::uint32_t>(root);
  waits->add(log, thread, {meeting, root, mark, call.begin, call.end}, *call.row);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
