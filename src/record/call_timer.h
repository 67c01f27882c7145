#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "record/file_counts.h"

namespace headrace::record {

/// What a rank does within a collective call on a file; `other` has no column of its own.
enum class Phase : std::uint8_t { other, meet, exchange, send, wait, copy, read, write };
inline constexpr std::size_t kPhases = 8;

/// Takes the time of one call on a file, from its making to its end. Inert without counts: then it
/// costs one comparison.
class CallTimer {
 public:
  /// `has_phases`: the call is collective, so what it does by phases counts, too.
  CallTimer(FileCounts* counts, bool has_phases) noexcept : counts_(counts) {
    if (counts != nullptr) [[unlikely]]
      start(has_phases);
  }
  /// A call that moves nothing; its time is also added to a field of its own.
  CallTimer(FileCounts* counts, std::int64_t FileCounts::* own_field) noexcept
      : CallTimer(counts, false) {
    own_field_ = own_field;
  }
  ~CallTimer() {
    if (counts_ != nullptr) [[unlikely]]
      stop();
  }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  /// Ticks since its making; 0 without counts.
  std::int64_t elapsed() const noexcept;
  /// Goes on in another phase, and returns the one before.
  Phase enter(Phase phase) noexcept;
  /// The call left out so many bytes between others of a collective buffer, at once.
  void note_gap(std::int64_t bytes) noexcept;

 private:
  void start(bool has_phases) noexcept;
  void stop() noexcept;

  FileCounts* counts_;
  CallTimer* outer_;
  std::int64_t outer_since_;
  std::int64_t begin_;
  std::int64_t since_;  ///< when the present phase began
  std::array<std::int64_t, kPhases> spent_;
  std::int64_t FileCounts::* own_field_ = nullptr;
  Phase phase_;
};

/// Since when this thread's call on a file has moved what is not yet counted, in ticks; 0 if none
/// is timed.
extern constinit thread_local std::int64_t moving_since;

/// The timer of the collective call that this thread carries out; null if none is timed.
extern constinit thread_local CallTimer* running_timer;

/// While it lives, the time of this thread's call counts for a phase. Phases nest: an inner one's
/// time is not the outer one's, so that together they are no more than the call's.
class InPhase {
 public:
  explicit InPhase(Phase phase) noexcept : timer_(running_timer) {
    if (timer_ != nullptr) [[unlikely]]
      before_ = timer_->enter(phase);
  }
  ~InPhase() {
    if (timer_ != nullptr) [[unlikely]]
      timer_->enter(before_);
  }
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;

 private:
  CallTimer* const timer_;
  Phase before_ = Phase::other;
};

}  // namespace headrace::record
