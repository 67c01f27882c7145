#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

/// When a rank entered its latest collective calls on a communicator, as it lies in the rank's
/// image for the other ranks of the node to read.
namespace headrace::record {

/// One entry in one word, so that a reader finds all of it or nothing: its time in units of 16
/// ticks (44 bits, which wrap around after a day or more), the call's number on the communicator
/// (10 bits), and a mark of the procedure and its root (10 bits, not all 0), by which calls that
/// are not the same one are told apart.
class Entry {
 public:
  static constexpr std::int64_t kTicks = 16;  ///< to which times are kept

  Entry() = default;
  explicit Entry(std::uint64_t word) : word_(word) {}
  Entry(std::int64_t ticks, std::uint64_t number, std::uint32_t mark)
      : word_(static_cast<std::uint64_t>(ticks) >> kTickBits << 20 | (number & kPart) << 10 |
              (mark & kPart)) {}

  std::uint64_t word() const { return word_; }
  bool is_number(std::uint64_t number) const { return (word_ >> 10 & kPart) == (number & kPart); }
  bool has_mark(std::uint32_t mark) const { return (word_ & kPart) == (mark & kPart); }
  /// By how many ticks it came after `ticks`; negative if before.
  std::int64_t ticks_after(std::int64_t ticks) const {
    const std::uint64_t units = (word_ >> 20) - (static_cast<std::uint64_t>(ticks) >> kTickBits);
    return static_cast<std::int64_t>(units << 20) >> 20 << kTickBits;
  }

 private:
  static constexpr int kTickBits = 4;
  static constexpr std::uint64_t kPart = (1 << 10) - 1;
  std::uint64_t word_ = 0;
};

/// Those of one rank on one communicator. Only the rank writes it.
struct EntryLog {
  static constexpr std::size_t kKept = 256;

  std::atomic<std::uint64_t> id;     ///< the communicator's, the same on all its ranks; 0: none
  std::atomic<std::uint64_t> calls;  ///< that have ended, or end
  std::array<std::uint64_t, 6> reserved;
  std::array<std::atomic<std::uint64_t>, kKept> entries;

  void add(Entry entry) noexcept {
    const std::uint64_t number = calls.load(std::memory_order_relaxed);
    calls.store(number + 1, std::memory_order_relaxed);
    entries[number % kKept].store(entry.word(), std::memory_order_release);
  }

  /// Before it is a communicator's.
  void begin(std::uint64_t new_id) noexcept {
    id.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (auto& entry : entries) entry.store(0, std::memory_order_relaxed);
    calls.store(0, std::memory_order_relaxed);
    id.store(new_id, std::memory_order_release);
  }

  /// The entry of a call; nothing if the rank has not come to the call's end, or if later calls
  /// have taken its place.
  std::optional<Entry> find(std::uint64_t number) const noexcept {
    const std::atomic<std::uint64_t>& place = entries[number % kKept];
    const Entry found(place.load(std::memory_order_acquire));
    const std::uint64_t now = calls.load(std::memory_order_acquire);
    const bool is_there = found.word() != 0 && found.is_number(number) && now > number &&
                          now - number <= kKept &&
                          place.load(std::memory_order_relaxed) == found.word();
    return is_there ? std::optional(found) : std::nullopt;
  }
};

/// A rank's logs: of communicators whose ranks all lie on its node.
struct EntryLogs {
  static constexpr std::size_t kMost = 32;
  std::array<EntryLog, kMost> logs;
};

static_assert(sizeof(EntryLog) == 2112);

}  // namespace headrace::record
