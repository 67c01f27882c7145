#include "collective/node_transport.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/pause.h"

namespace headrace::collective {
namespace {

/// Says that a rank leaves a call to the library. No note of a call is it.
constexpr std::uint64_t kPassed = 0;

}  // namespace

NodeTransport::NodeTransport(fabric::Milestones milestones, const fabric::Waiter& waiter, int tag)
    : milestones_(milestones), waiter_(waiter), tag_(tag) {
  milestones_.reach(milestone(call_, kLastPhase), fabric::Milestones::Audience::whoever);
}

void NodeTransport::begin_call(std::uint64_t note) {
  ++call_;
  stay_near();
  note_ = note;
  milestones_.set_note(call_, note);
}

/// A call that is passed waits for nobody, so one rank may be many calls ahead. Its notes must stay
/// until the others have read them: a rank that no longer found that of its own call would leave
/// the call to the library, while this one has carried it out. To look for the others takes a line
/// from each one's cache, so that is done when the notes might run out, and then they must have
/// come far enough for another half of them.
void NodeTransport::stay_near() {
  if (call_ <= near_until_) return;
  const std::uint64_t number = milestone(call_ - kNotes / 2, kLastPhase);
  const bool is_reached = waiter_.spins > 0 && look_now_and_then(number);
  if (!is_reached) milestones_.wait_for_reuse(number, waiter_);
  near_until_ = call_of(milestones_.least_reached()) + kNotes;
}

/// The rank that is waited for writes at each call what is looked at here. Each look takes that
/// from its cache, and this rank is half of the notes ahead, so it is in no hurry: a look takes
/// about a microsecond. False if the number was not reached in some hundred microseconds.
bool NodeTransport::look_now_and_then(std::uint64_t number) {
  constexpr int kLooks = 200;
  constexpr int kPauses = 64;
  for (int look = 0; look < kLooks; ++look) {
    if (milestones_.have_all_reached(number)) return true;
    for (int pause = 0; pause < kPauses; ++pause) pause_spinning();
  }
  return false;
}

void NodeTransport::leave_call() {
  milestones_.pass(milestone(call_, kLastPhase));
}

void NodeTransport::pass_call() {
  begin_call(kPassed);
  leave_call();
}

bool NodeTransport::is_stage_free() {
  if (met_ + 1 == call_) return true;
  return milestones_.have_all_reached(milestone(call_ - 2, kLastPhase));
}

void NodeTransport::reach(std::uint64_t number, fabric::Milestones::Audience audience) {
  milestones_.reach(number, audience);
}

bool NodeTransport::has_reached(int node_rank, std::uint64_t number) {
  return milestones_.has_reached(node_rank, number);
}

bool NodeTransport::have_all_reached(std::uint64_t number) {
  return milestones_.have_all_reached(number);
}

bool NodeTransport::agrees_with(int node_rank) {
  return note_of(node_rank) == note_;
}

bool NodeTransport::agrees_with_all() {
  for (int i = 0; i < milestones_.ranks(); ++i) {
    if (!agrees_with(i)) return false;
  }
  return true;
}

NodeTransport::Place& NodeTransport::next_place() {
  if (under_way_ == places_.size()) {
    auto message = waiter_.messenger->make_message();
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(first_);
    std::rotate(places_.begin(), first, places_.end());
    first_ = 0;
    places_.push_back({std::move(message), nullptr});
  }
  return places_[(first_ + under_way_++) % places_.size()];
}

Error NodeTransport::send(int rank, std::span<const std::byte> bytes) {
  return waiter_.messenger->start_buffered_send(*next_place().message, tag_, rank, bytes);
}

Error NodeTransport::receive(int rank, std::span<std::byte> bytes) {
  return waiter_.messenger->start_receive(*next_place().message, tag_, rank, bytes);
}

Error NodeTransport::send_parcel(int rank, Parcels::Outgoing parcel) {
  if (parcel.failure) return std::move(parcel.failure);
  Place& place = next_place();
  place.copy = std::move(parcel.copy);
  return waiter_.messenger->start_typed_send(*place.message, tag_, rank, parcel.data);
}

Error NodeTransport::receive_parcel(int rank, const fabric::TypedData& parcel) {
  return waiter_.messenger->start_typed_receive(*next_place().message, tag_, rank, parcel);
}

/// A message that fails keeps nobody from the rest of the call: others may wait for this rank.
bool NodeTransport::has_at_most(std::size_t left) {
  while (under_way_ > 0) {
    Place& place = places_[first_];
    const Result<bool> is_done = place.message->is_done();
    if (is_done && !is_done.value()) break;
    if (!is_done) keep_failure(is_done.error());
    place.copy.reset();
    first_ = (first_ + 1) % places_.size();
    --under_way_;
  }
  return under_way_ <= left;
}

/// The library tells of a failure once; afterwards the message is done.
void NodeTransport::keep_failure(const Error& error) {
  if (!failure_) failure_ = error;
}

void NodeTransport::wait(const Step& step) {
  const std::uint64_t number = milestone(call_, step.phase);
  switch (step.kind) {
    case Step::Kind::claim:
      return milestones_.wait_for_reuse(milestone(call_ - 2, kLastPhase), waiter_);
    case Step::Kind::await_all: return milestones_.wait_for_all(number, waiter_);
    case Step::Kind::await: return milestones_.wait_for(step.peer, number, waiter_);
    case Step::Kind::complete:
    case Step::Kind::parcels: return wait_for_messages();
    default: return;
  }
}

/// Only the library knows when a message has come, so it is asked again and again. Whoever needs
/// the core meanwhile gets it.
void NodeTransport::wait_for_messages() {
  constexpr long kSleep = 20'000;  // nanoseconds
  constexpr int kPolls = 100;
  for (int poll = 0; poll < kPolls && under_way_ > 0; ++poll) {
    const Result<bool> is_done = places_[first_].message->is_done();
    if (!is_done) return keep_failure(is_done.error());
    if (is_done.value()) return;
    pause_spinning();
  }
  ::sched_yield();
  const timespec pause{0, kSleep};
  if (waiter_.spins == 0) ::nanosleep(&pause, nullptr);
}

/// What has begun to come goes on coming, from ranks that are in the call. It is not waited for
/// without end, since such a rank may have failed, too: what is late may still be written to the
/// program's buffer. A message that cannot be ended keeps our own memory for good.
void NodeTransport::end_messages() {
  constexpr int kTries = 50;
  for (; under_way_ > 0; --under_way_) {
    Place& place = places_[first_];
    bool is_ended = false;
    for (int i = 0; i < kTries && !is_ended; ++i) is_ended = place.message->end();
    if (!is_ended) {
      static_cast<void>(place.message.release());
      static_cast<void>(place.copy.release());
    }
    place.copy.reset();
    first_ = (first_ + 1) % places_.size();
  }
  std::erase_if(places_, [](const Place& place) { return place.message == nullptr; });
  first_ = 0;
  failure_ = {};
}

}  // namespace headrace::collective
