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
  const std::uint32_t mark = operation + 1 + kOperations * static_cast<std::uint32_t>(root);
  waits->add(log, thread, {meeting, root, mark, call.begin, call.end}, *call.row);
}

void note_sent(const Measured& call, MPI_Comm communicator, int to, int tag,
               record::MessageWaits::Sending how) noexcept {
  record::MessageWaits* const waits = record::message_waits();
  if (waits == nullptr || to == MPI_PROC_NULL) return;
  waits->sent(call.thread->number(), call.communicator, peer_in_world(to, communicator), tag,
              call.begin, how);
}

void note_started(const Measured& call, const TrackedRequest& request) noexcept {
  record::MessageWaits* const waits = record::message_waits();
  if (waits == nullptr || request.receives || request.communicator == 0 || request.to < 0) return;
  waits->sent(call.thread->number(), request.communicator, request.to, request.tag, call.begin,
              record::MessageWaits::Sending::by_itself);
}

std::uint64_t note_posted(const TrackedRequest& request) noexcept {
  record::MessageWaits* const waits = record::message_waits();
  if (waits == nullptr || !request.receives || request.from == MPI_PROC_NULL) return 0;
  return waits->posted(request.thread->number(), {request.communicator, request.from, request.tag});
}

void note_received(const Measured& call, const MPI_Status& status) noexcept {
  record::MessageWaits* const waits = record::message_waits();
  if (waits == nullptr || status.MPI_SOURCE == MPI_PROC_NULL) return;
  waits->received(call.thread->number(), {call.communicator, status.MPI_SOURCE, status.MPI_TAG},
                  call.begin, 0);
}

void note_received(const TrackedRequest& request, const MPI_Status& status) noexcept {
  record::MessageWaits* const waits = record::message_waits();
  if (waits == nullptr) return;
  record::ThreadRecord* const own = record::this_thread();
  if (own == nullptr) return;
  if (!request.receives || request.call_class != record::CallClass::point_to_point) {
    waits->note_unknown(own->number());
  } else if (status.MPI_SOURCE != MPI_PROC_NULL) {
    waits->received(own->number(), {request.communicator, status.MPI_SOURCE, status.MPI_TAG},
                    request.posted, request.number);
  }
}

void note_unknown_wait() noexcept {
  record::MessageWaits* const waits = record::message_waits();
  record::ThreadRecord* const own = waits == nullptr ? nullptr : record::this_thread();
  if (own != nullptr) waits->note_unknown(own->number());
}

void stop_following_messages() noexcept {
  if (record::MessageWaits* const waits = record::message_waits(); waits != nullptr) {
    waits->stop();
  }
}

void end_messages(const Measured& call, record::MessageWaits::Needs needs) noexcept {
  record::MessageWaits* const waits = record::message_waits();
  if (waits == nullptr) return;
  if (call.thread == nullptr) {
    record::ThreadRecord* const own = record::this_thread();
    if (own != nullptr) waits->drop_call(own->number());
    return;
  }
  waits->end_call(call.thread->number(), *call.row, call.begin, call.end, needs);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
