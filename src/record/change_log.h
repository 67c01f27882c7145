#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace headrace::record {

/// The last changes of a number, each with its time. One thread at a time writes, any reads.
template <std::size_t kMost>
class ChangeLog {
 public:
  /// From now on, in ticks, it is `value`.
  void add(std::int64_t now, std::uint32_t value) noexcept {
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    Change& change = changes_[count % kMost];
    change.ticks.store(now, std::memory_order_relaxed);
    change.value.store(value, std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_release);
  }

  /// What it was at that time: 0 before the first change; nothing where that is forgotten.
  std::optional<std::uint32_t> at(std::int64_t ticks) const noexcept {
    const std::uint64_t count = count_.load(std::memory_order_acquire);
    for (std::uint64_t i = count; i > 0 && count - i < kMost; --i) {
      const Change& change = changes_[(i - 1) % kMost];
      const std::int64_t since = change.ticks.load(std::memory_order_relaxed);
      const std::uint32_t value = change.value.load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (count_.load(std::memory_order_relaxed) >= i - 1 + kMost) return std::nullopt;
      if (since <= ticks) return value;
    }
    if (count > kMost) return std::nullopt;
    return 0;
  }

 private:
  struct Change {
    std::atomic<std::int64_t> ticks;
    std::atomic<std::uint32_t> value;
  };
  std::array<Change, kMost> changes_{};
  std::atomic<std::uint64_t> count_ = 0;
};

}  // namespace headrace::record
