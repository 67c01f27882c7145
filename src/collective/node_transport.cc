#include "collective/node_transport.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

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
  note_ = note;
  milestones_.set_note(call_, note);
  begun_ = 0;
  complete_ = 0;
}

void NodeTransport::pass_call() {
  begin_call(kPassed);
  milestones_.reach(milestone(call_, kLastPhase), fabric::Milestones::Audience::whoever);
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
  return milestones_.note(node_rank, call_) == note_;
}

bool NodeTransport::agrees_with_all() {
  for (int i = 0; i < milestones_.ranks(); ++i) {
    if (!agrees_with(i)) return false;
  }
  return true;
}

fabric::Message& NodeTransport::next_message() {
  if (begun_ == messages_.size()) messages_.push_back(waiter_.messenger->make_message());
  return *messages_[begun_++];
}

Error NodeTransport::send(int rank, std::span<const std::byte> bytes) {
  return waiter_.messenger->start_buffered_send(next_message(), tag_, rank, bytes);
}

Error NodeTransport::receive(int rank, std::span<std::byte> bytes) {
  return waiter_.messenger->start_receive(next_message(), tag_, rank, bytes);
}

Result<bool> NodeTransport::is_complete() {
  for (; complete_ < begun_; ++complete_) {
    const Result<bool> is_done = messages_[complete_]->is_done();
    if (!is_done || !is_done.value()) return is_done;
  }
  begun_ = 0;
  complete_ = 0;
  return true;
}

void NodeTransport::wait(const Step& step) {
  const std::uint64_t number = milestone(call_, step.phase);
  switch (step.kind) {
    case Step::Kind::claim:
      return milestones_.wait_for_reuse(milestone(call_ - 2, kLastPhase), waiter_);
    case Step::Kind::await_all: return milestones_.wait_for_all(number, waiter_);
    case Step::Kind::await: return milestones_.wait_for(step.peer, number, waiter_);
    case Step::Kind::complete: return wait_for_messages();
    default: return;
  }
}

/// Only the library knows when a message has come, so it is asked again and again. Whoever needs
/// the core meanwhile gets it.
void NodeTransport::wait_for_messages() {
  constexpr long kSleep = 20'000;  // nanoseconds
  constexpr int kLooks = 100;
  for (int look = 0; look < kLooks; ++look) {
    const Result<bool> is_done = messages_[complete_]->is_done();
    if (!is_done || is_done.value()) return;
    pause_spinning();
  }
  ::sched_yield();
  const timespec pause{0, kSleep};
  if (waiter_.spins == 0) ::nanosleep(&pause, nullptr);
}

}  // namespace headrace::collective
