#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/rounding.h"
#include "base/types.h"
#include "exchange/file_channel.h"
#include "plan/coverage.h"

namespace headrace::exchange {

/// How a channel's slot memory is divided: `count` slots of whole pages, and behind them one
/// coverage map each, large enough for a granule of one byte.
struct SlotGeometry {
  ByteCount window_size = 0;  ///< bytes of one slot, whole pages
  int count = 0;              ///< at most kMaxSlots

  std::size_t bytes() const {
    const auto slot = static_cast<std::size_t>(window_size + window_size / 8);
    return round_up<std::size_t>(static_cast<std::size_t>(count) * slot, kPage);
  }
};

/// The slots of a channel: where window w, counted over all its calls, has its bytes and its state.
class Slots {
 public:
  Slots(Staging& staging, const fabric::MemoryRange& memory, const SlotGeometry& geometry)
      : staging_(&staging), memory_(memory), geometry_(geometry) {}

  const fabric::MemoryRange& memory() const { return memory_; }
  const SlotGeometry& geometry() const { return geometry_; }

  /// Prepares fresh slots; the leader calls it before it tells the others of them.
  void prepare();
  /// Maps the slot of `window` into this process, unless it was before: cheaper than a fault a
  /// page. Slots are mapped one by one, since other ranks can go on meanwhile.
  void map(std::int64_t window);

  /// The bytes of all slots. Behind them lie the maps, which hold no marks between calls.
  std::span<std::byte> all_bytes() const {
    return {memory_.base, static_cast<std::size_t>(geometry_.count * geometry_.window_size)};
  }
  /// Of a window that has a slot, and that nobody else passes on meanwhile.
  Slot& slot(std::int64_t window) const { return staging_->slots[index(window)]; }
  std::size_t index(std::int64_t window) const { return static_cast<std::size_t>(find(window)); }
  /// Of any window; null where it has none. Who looks while others may pass the window on sees the
  /// state of some window, and must look again before it acts.
  Slot* find_slot(std::int64_t window) const {
    const int place = find(window);
    return place < 0 ? nullptr : &staging_->slots[static_cast<std::size_t>(place)];
  }
  /// The window that has a slot.
  std::int64_t window_at(int index) const {
    return staging_->windows[static_cast<std::size_t>(index)].load(std::memory_order_acquire);
  }
  std::byte* bytes(std::int64_t window) const {
    return memory_.base + index(window) * static_cast<std::size_t>(geometry_.window_size);
  }
  plan::Coverage coverage(std::int64_t window, int granule_shift) const;

  bool has_slot(std::int64_t window) const { return find(window) >= 0; }
  /// Read: whether the window's bytes are in its slot, as far as the file had them.
  bool is_loaded(std::int64_t window) const {
    const Slot* const slot = find_slot(window);
    return slot != nullptr && slot->loaded.load(std::memory_order_acquire) == window + 1;
  }
  /// Read: the window's bytes below `valid_end` are in its slot; why not more, 0 at the file's end.
  void set_loaded(std::int64_t window, FileOffset valid_end, int system_error) const;
  /// `window` is done with its slot, which the next one that has none gets.
  void pass_on(std::int64_t window) const;

 private:
  /// -1: the window has none.
  int find(std::int64_t window) const {
    const int last = found_[static_cast<std::size_t>(window) % found_.size()];
    return window_at(last) == window ? last : search(window);
  }
  int search(std::int64_t window) const;

  static_assert(kMaxSlots <= 64);

  Staging* staging_;
  fabric::MemoryRange memory_;
  SlotGeometry geometry_;
  std::uint64_t mapped_ = 0;  ///< a bit for each slot
  /// Where windows were found last: each is looked for several times.
  mutable std::array<std::uint8_t, kMaxSlots> found_{};
};

}  // namespace headrace::exchange
