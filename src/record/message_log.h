#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

/// When messages between ranks of a node were sent and their receives posted, as it lies in the
/// ranks' images for the others to read.
namespace headrace::record {

/// The latest messages of one rank to another one, or from it. Only the rank writes it.
struct MessageLog {
  static constexpr std::size_t kKept = 64;

  struct Item {
    std::atomic<std::uint64_t> key;  ///< names a message alike on both ranks; 0: it is written
    std::atomic<std::int64_t> ticks;
  };

  std::atomic<std::int64_t> peer;  ///< its number in MPI_COMM_WORLD and 1; 0: nobody's
  std::atomic<std::uint64_t> count;
  std::array<Item, kKept> items;

  void add(std::uint64_t key, std::int64_t ticks) noexcept {
    const std::uint64_t number = count.load(std::memory_order_relaxed);
    Item& item = items[number % kKept];
    item.key.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    item.ticks.store(ticks, std::memory_order_relaxed);
    item.key.store(key, std::memory_order_release);
    count.store(number + 1, std::memory_order_relaxed);
  }

  /// When the message was sent, or its receive posted; nothing if it is not there. Looks from
  /// `place` on, and moves it behind what it finds.
  std::optional<std::int64_t> find(std::uint64_t key, std::size_t& place) const noexcept {
    for (std::size_t i = 0; i < kKept; ++i) {
      const std::size_t at = (place + i) % kKept;
      if (items[at].key.load(std::memory_order_acquire) != key) continue;
      const std::int64_t ticks = items[at].ticks.load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (items[at].key.load(std::memory_order_relaxed) != key) return std::nullopt;
      place = (at + 1) % kKept;
      return ticks;
    }
    return std::nullopt;
  }
};

/// A rank's logs: of ranks to which it sent first, and from which it received first.
struct MessageLogs {
  static constexpr std::size_t kMost = 32;
  std::array<MessageLog, kMost> sent;    ///< when the call that sent began
  std::array<MessageLog, kMost> posted;  ///< when the call that posted the receive began
};

static_assert(sizeof(MessageLog) == 1040);

}  // namespace headrace::record
