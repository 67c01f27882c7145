#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace headrace::collective {

/// The small parcels of a node's ranks in one message: how large each rank's parcel is, then the
/// small ones, one behind the other. Those that are not small, their ranks move by themselves.
/// Whoever gets it goes by the sizes in it, since a program's receiver may expect others.
class NodeMessage {
 public:
  /// `small`: the most bytes of a small parcel.
  NodeMessage(std::byte* memory, int ranks, std::size_t small)
      : memory_(memory), ranks_(ranks), small_(small) {}

  /// Larger sizes are told as the largest number.
  using Told = std::uint32_t;

  /// Bytes before the parcels.
  static constexpr std::size_t header(int ranks) {
    return align(static_cast<std::size_t>(ranks) * sizeof(Told));
  }
  /// Where the next message may begin in memory.
  static constexpr std::size_t align(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

  void clear() { std::memset(memory_, 0, header(ranks_)); }
  void tell(int i, std::size_t bytes) {
    const auto told = static_cast<Told>(std::min<std::size_t>(bytes, kMost));
    std::memcpy(memory_ + static_cast<std::size_t>(i) * sizeof told, &told, sizeof told);
  }
  void tell_as(const NodeMessage& other) { std::memcpy(memory_, other.memory_, header(ranks_)); }

  bool is_small(int i) const { return told(i) <= small_; }
  /// Of any parcel; none if it cannot be told.
  std::optional<std::size_t> bytes_of(int i) const {
    const std::size_t bytes = told(i);
    return bytes < kMost ? std::optional(bytes) : std::nullopt;
  }
  /// 0 where it is not small.
  std::size_t small_bytes(int i) const { return is_small(i) ? told(i) : 0; }
  /// Whether any parcel, of whatever size, is not empty: else there is no message.
  bool is_needed() const {
    for (int i = 0; i < ranks_; ++i) {
      if (told(i) > 0) return true;
    }
    return false;
  }
  /// Where a small parcel begins, from the beginning of the message.
  std::size_t offset_of(int i) const {
    std::size_t offset = header(ranks_);
    for (int before = 0; before < i; ++before) offset += small_bytes(before);
    return offset;
  }
  std::size_t bytes() const { return offset_of(ranks_); }
  std::byte* memory() const { return memory_; }
  int ranks() const { return ranks_; }

 private:
  static constexpr std::size_t kMost = std::numeric_limits<Told>::max();

  std::size_t told(int i) const {
    Told told = 0;
    std::memcpy(&told, memory_ + static_cast<std::size_t>(i) * sizeof told, sizeof told);
    return told;
  }

  std::byte* memory_;
  int ranks_;
  std::size_t small_;
};

}  // namespace headrace::collective
