#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/bell.h"
#include "fabric/waiter.h"

namespace headrace::fabric {

/// What a rank says of its last calls, each in a place of its own.
inline constexpr std::uint64_t kMilestoneNotes = 256;

/// How far one rank has come, in shared memory, zeroed when new.
struct alignas(64) Milestone {
  std::atomic<std::uint64_t> reached;
  std::array<std::atomic<std::uint64_t>, kMilestoneNotes> notes;
};

/// What milestones need in shared memory besides, zeroed when new.
struct MilestoneBells {
  Bell arrivals;  ///< for ranks that wait for what others give
  Bell reuse;     ///< for ranks that wait until others have taken what they gave
};

/// How far the ranks of a node have come, as numbers that only grow. Reaching one waits for nobody;
/// any rank may wait until another, or all, have reached a number. What a rank wrote into shared
/// memory before it reached a number, those see that have waited for it.
class Milestones {
 public:
  /// `ranks`: one of each rank of the node, in shared memory.
  Milestones(MilestoneBells& bells, std::span<Milestone> ranks, int rank)
      : bells_(bells), ranks_(ranks), rank_(static_cast<std::size_t>(rank)) {}

  /// Who waits for a number of this rank's.
  enum class Audience {
    whoever,  ///< some wait for this rank alone
    all,      ///< all wait for all: the last that reaches the number wakes them
    reuse     ///< those that want to write again what this rank has read
  };
  void reach(std::uint64_t number, Audience audience);
  /// Reaches a number that others hardly ever wait for, at less cost: whoever goes to sleep at that
  /// moment is not woken, and looks again after a millisecond at most.
  void pass(std::uint64_t number);

  bool has_reached(int rank, std::uint64_t number) const {
    return ranks_[static_cast<std::size_t>(rank)].reached.load(std::memory_order_seq_cst) >= number;
  }
  bool have_all_reached(std::uint64_t number) const;
  /// The number that all have reached.
  std::uint64_t least_reached() const;

  void wait_for(int rank, std::uint64_t number, const Waiter& waiter) {
    bells_.arrivals.wait(waiter, [&] { return has_reached(rank, number); });
  }
  void wait_for_all(std::uint64_t number, const Waiter& waiter) {
    bells_.arrivals.wait(waiter, [&] { return have_all_reached(number); });
  }
  /// The same for numbers that are reached for Audience::reuse, or passed.
  void wait_for_reuse(std::uint64_t number, const Waiter& waiter) {
    bells_.reuse.wait(waiter, [&] { return have_all_reached(number); });
  }

  /// To be set before the number is reached at which others look at it.
  void set_note(std::uint64_t call, std::uint64_t note) {
    ranks_[rank_].notes[call % kMilestoneNotes].store(note, std::memory_order_relaxed);
  }
  std::uint64_t note(int rank, std::uint64_t call) const {
    return ranks_[static_cast<std::size_t>(rank)].notes[call % kMilestoneNotes].load(
        std::memory_order_relaxed);
  }

  int ranks() const { return static_cast<int>(ranks_.size()); }

 private:
  void wake(std::uint64_t number, Audience audience);

  MilestoneBells& bells_;
  std::span<Milestone> ranks_;
  std::size_t rank_;
};

}  // namespace headrace::fabric
