#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/types.h"

namespace headrace::storage {

/// Which of a node's ranks writes a file. Lies in memory that they share, zeroed when new.
struct alignas(64) WriteTurnState {
  std::atomic<std::uint32_t> holder;   ///< a rank's number plus one; 0: nobody writes
  std::atomic<std::uint32_t> last;     ///< who took the last turn
  std::atomic<std::uint32_t> waiting;  ///< ranks that wait for one
};

/// A rank's turns at writing a file that others on its node write too. The kernel lets one at a
/// time write an inode. Waiting for that in the kernel slows the one that writes by a tenth and
/// more (docs/paths.md), so ranks wait here, by turns. It is advice: nobody waits longer than a
/// millisecond, whatever became of the rank that has the turn, and the kernel keeps the order
/// then. Copies share the state.
class WriteTurn {
 public:
  /// Smaller writes do not gain, in bytes.
  static constexpr ByteCount kLeastBytes = 32 << 10;

  /// Takes no turns.
  WriteTurn() = default;
  WriteTurn(WriteTurnState& state, int rank)
      : state_(&state), self_(static_cast<std::uint32_t>(rank) + 1) {}

  class Held;

 private:
  using Clock = std::chrono::steady_clock;

  enum class Turn { none, taken, waited_for };

  /// None where so many wait that this rank had better do so in the kernel.
  Turn take() const;
  bool take_free() const;
  bool take_within(Clock::duration longest) const;
  Turn wait() const;
  void give_up() const;

  WriteTurnState* state_ = nullptr;
  std::uint32_t self_ = 0;
};

/// Has the turn for a write of so many bytes while it lives, where that is worth it. From any
/// thread.
class WriteTurn::Held {
 public:
  Held(const WriteTurn& turn, ByteCount bytes) : turn_(turn) {
    if (turn_.state_ != nullptr && bytes >= kLeastBytes) taken_ = turn_.take();
  }
  ~Held() {
    if (taken_ != Turn::none) turn_.give_up();
  }
  /// Whether another rank had it before, and gave it up.
  bool was_waited_for() const { return taken_ == Turn::waited_for; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  WriteTurn turn_;
  Turn taken_ = Turn::none;
};

}  // namespace headrace::storage
