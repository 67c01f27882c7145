#pragma once

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>

#include "base/types.h"

namespace headrace::storage {

/// Which of a node's ranks writes a file. Lies in shared memory, zeroed when new.
struct alignas(64) WriteTurnState {
  std::atomic<std::uint32_t> holder;   ///< a rank's number plus one; 0: nobody writes
  std::atomic<std::uint32_t> last;     ///< the rank, plus one, that took the last turn
  std::atomic<std::uint32_t> waiting;  ///< how many ranks wait for a turn
};

/// A rank's turns at writing a file that other ranks of its node write, too. The kernel lets one
/// process at a time write to an inode. Ranks that wait in the kernel slow the one that writes by a
/// tenth and more (docs/paths.md), so ranks wait here and take turns. Turns are advice only: no
/// rank waits longer than a millisecond, whatever became of the rank that has the turn; then the
/// kernel orders the writes. Copies share the state.
class WriteTurn {
 public:
  /// Smaller writes gain nothing; bytes.
  static constexpr ByteCount kLeastBytes = 32 << 10;

  /// An object that takes no turns.
  WriteTurn() = default;
  WriteTurn(WriteTurnState& state, int rank)
      : state_(&state), self_(static_cast<std::uint32_t>(rank) + 1) {
    assert(rank >= 0);
  }

  class Held;

 private:
  using Clock = std::chrono::steady_clock;

  enum class Turn { none, taken, waited_for };

  /// Turn::none if so many ranks wait that this one should wait in the kernel.
  Turn take() const;
  bool take_free() const;
  bool take_within(Clock::duration longest) const;
  Turn wait() const;
  void give_up() const;

  WriteTurnState* state_ = nullptr;
  std::uint32_t self_ = 0;
};

/// Holds the turn while it lives, if that pays for a write of `bytes` bytes. From any thread.
class WriteTurn::Held {
 public:
  Held(const WriteTurn& turn, ByteCount bytes) : turn_(turn) {
    if (turn_.state_ != nullptr && bytes >= kLeastBytes) taken_ = turn_.take();
  }
  ~Held() {
    if (taken_ != Turn::none) turn_.give_up();
  }
  /// Whether this rank waited until another rank gave the turn up.
  bool was_waited_for() const { return taken_ == Turn::waited_for; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  WriteTurn turn_;
  Turn taken_ = Turn::none;
};

}  // namespace headrace::storage
