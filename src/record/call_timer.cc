#include "record/call_timer.h"

#include <utility>

#include "record/clock.h"

namespace headrace::record {

constinit thread_local CallTimer* running_timer = nullptr;
constinit thread_local std::int64_t moving_since = 0;

void CallTimer::start(bool has_phases) noexcept {
  begin_ = since_ = record::ticks();
  spent_ = {};
  phase_ = Phase::other;
  // A call within another one's: a function of the program's that converts data.
  outer_ = running_timer;
  outer_since_ = std::exchange(moving_since, begin_);
  running_timer = has_phases ? this : nullptr;
}

void CallTimer::stop() noexcept {
  enter(Phase::other);
  running_timer = outer_;
  moving_since = outer_since_;
  const auto spent = [this](Phase phase) { return spent_[static_cast<std::size_t>(phase)]; };
  add(counts_->ticks, since_ - begin_);
  if (own_field_ != nullptr) add(counts_->*own_field_, since_ - begin_);
  add(counts_->meet, spent(Phase::meet));
  add(counts_->send, spent(Phase::send));
  add(counts_->exchange, spent(Phase::meet) + spent(Phase::exchange) + spent(Phase::send));
  add(counts_->wait, spent(Phase::wait));
  add(counts_->copy, spent(Phase::copy));
  add(counts_->reading, spent(Phase::read));
  add(counts_->store, spent(Phase::read) + spent(Phase::write));
}

std::int64_t CallTimer::elapsed() const noexcept {
  return counts_ == nullptr ? 0 : record::ticks() - begin_;
}

void CallTimer::note_gap(std::int64_t bytes) noexcept {
  add(counts_->gaps, 1);
  add(counts_->gap_bytes, bytes);
}

Phase CallTimer::enter(Phase phase) noexcept {
  const std::int64_t now = record::ticks();
  spent_[static_cast<std::size_t>(phase_)] += now - since_;
  since_ = now;
  const Phase before = phase_;
  phase_ = phase;
  return before;
}

}  // namespace headrace::record
