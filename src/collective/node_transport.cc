#include "collective/node_transport.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/pause.h"
#include "collective/call_note.h"

namespace headrace::collective {
namespace {

/// Says that a rank leaves a call to the library. No note of a call is it.
constexpr std::uint64_t kPassed = 0;

}  // namespace

NodeTransport::NodeTransport(fabric::Milestones milestones, const fabric::Waiter& waiter,
                             int first_tag)
    : milestones_(milestones), waiter_(waiter), first_tag_(first_tag), tag_(first_tag) {
  milestones_.reach(milestone(call_, kLastPhase), fabric::Milestones::Audience::whoever);
}

void NodeTransport::begin_program_call(std::size_t last_below) {
  // Who is sent more than it took may have some left.
  if (is_spoilt_) left_tags_[left_count_++ % left_tags_.size()] = tag_;
  if (left_count_ > 0) drop_left();
  ++program_call_;
  tag_ = first_tag_ + static_cast<int>(program_call_ % kTags);
  last_below_ = last_below;
  is_spoilt_ = false;
  ended_.clear();
}

/// Takes messages that spoilt calls have left, for which their senders may wait. MPICH ends a job
/// in which some remain.
void NodeTransport::drop_left() {
  constexpr int kTries = 1000;
  const std::size_t count = std::min(left_count_, left_tags_.size());
  static_cast<void>(attempt([&]() -> Error {
    for (const int tag : std::span(left_tags_).first(count)) {
      for (;;) {
        const auto found = waiter_.messenger->find(tag, -1);
        if (!found || !found.value()) break;
        const auto [from, size] = *found.value();
        auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
        Place& place = next_place();
        place.copy = std::move(memory);
        const Error error =
            waiter_.messenger->start_receive(*place.message, tag, from, {place.copy.get(), size});
        for (int i = 0; i < kTries && !error && !has_at_most(0); ++i) wait_for_messages();
        end_messages();
        if (error) return error;
      }
    }
    return {};
  }));
}

void NodeTransport::begin_call(std::uint64_t note) {
  ++call_;
  begin_part();
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
  if (is_spoilt_) milestones_.set_note(call_, note_ | kSpoiltNote);
  milestones_.reach(number, audience);
}

bool NodeTransport::has_reached(int node_rank, std::uint64_t number) {
  return milestones_.has_reached(node_rank, number);
}

bool NodeTransport::have_all_reached(std::uint64_t number) {
  return milestones_.have_all_reached(number);
}

Agreement NodeTransport::agreement_with(int node_rank) {
  const std::uint64_t said = note_of(node_rank) & ~kSpoiltNote;
  if (said == note_) return Agreement::same;
  return is_same_call(said, note_) ? Agreement::other_size : Agreement::other_call;
}

Agreement NodeTransport::agreement_with_all() {
  Agreement worst = Agreement::same;
  for (int i = 0; i < milestones_.ranks(); ++i) worst = std::max(worst, agreement_with(i));
  return worst;
}

bool NodeTransport::tells_spoilt(int node_rank) {
  return (note_of(node_rank) & kSpoiltNote) != 0;
}

NodeTransport::Place& NodeTransport::next_place() {
  if (under_way_ == places_.size()) {
    auto message = waiter_.messenger->make_message();
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(first_);
    std::rotate(places_.begin(), first, places_.end());
    first_ = 0;
    places_.push_back({std::move(message), nullptr});
  }
  Place& place = places_[(first_ + under_way_++) % places_.size()];
  place.sender = kAny;
  place.has_failed = false;
  return place;
}

Error NodeTransport::send(int rank, std::span<const std::byte> bytes) {
  return waiter_.messenger->start_buffered_send(*next_place().message, tag_, rank, bytes);
}

Error NodeTransport::receive(int rank, std::span<std::byte> bytes) {
  return waiter_.messenger->start_receive(*next_place().message, tag_, rank, bytes);
}

Error NodeTransport::receive_all(int rank, std::span<std::byte> bytes) {
  const auto end = ended_.begin() + static_cast<std::ptrdiff_t>(ended_before_);
  if (std::find(ended_.begin(), end, rank) != end) return {};
  Place& place = next_place();
  place.sender = rank;
  place.bytes = bytes.size();
  return waiter_.messenger->start_receive(*place.message, tag_, rank, bytes);
}

/// Of a message that is done.
void NodeTransport::check(const Place& place) {
  if (place.sender == kAny) return;
  const std::size_t received = place.has_failed ? place.bytes : place.message->received();
  if (!place.has_failed && received == place.bytes) return;
  is_spoilt_ = true;
  if (received < std::min(place.bytes, last_below_)) ended_.push_back(place.sender);
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
    if (!is_done) keep_failure(place, is_done.error());
    check(place);
    place.copy.reset();
    first_ = (first_ + 1) % places_.size();
    --under_way_;
  }
  return under_way_ <= left;
}

/// The library tells of a failure once; afterwards the message is done.
void NodeTransport::keep_failure(Place& place, const Error& error) {
  place.has_failed = true;
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
    if (!is_done) return keep_failure(places_[first_], is_done.error());
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
