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
  add(counts_->exchange, spent(Phase::exchange));
  add(counts_->wait, spent(Phase::wait));
  add(counts_->copy, spent(Phase::copy));
  add(counts_->store, spent(Phase::store));
}

std::int64_t CallTimer::elapsed() const noexcept {
  return counts_ == nullptr ? 0 : record::ticks() - begin_;
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
