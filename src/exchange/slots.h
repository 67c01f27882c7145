#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/rounding.h"
#include "base/types.h"
#include "exchange/file_channel.h"
#include "plan/coverage.h"

namespace headrace::exchange {

/// How a channel's slot memory is divided: `count` slots of whole pages, and behind them a coverage
/// map for each slot, large enough for a granule of one byte.
struct SlotGeometry {
  ByteCount window_size = 0;  ///< bytes of one slot, a multiple of kPage
  int count = 0;              ///< 1 to kMaxSlots

  std::size_t bytes() const {
    const auto slot = static_cast<std::size_t>(window_size + window_size / 8);
    return round_up<std::size_t>(static_cast<std::size_t>(count) * slot, kPage);
  }
};

/// The slots of a channel: where a window has its bytes and its state. Windows are counted over all
/// calls of the channel, from 0.
class Slots {
 public:
  Slots(Staging& staging, const fabric::MemoryRange& memory, const SlotGeometry& geometry)
      : staging_(&staging), memory_(memory), geometry_(geometry) {
    assert(0 < geometry.count && geometry.count <= kMaxSlots);
    assert(geometry.window_size > 0 && geometry.window_size % kPage == 0);
    assert(memory.base != nullptr && memory.size >= geometry.bytes());
  }

  const fabric::MemoryRange& memory() const { return memory_; }
  const SlotGeometry& geometry() const { return geometry_; }

  /// Prepares new slots. Called by the leader before it tells the others of them.
  void prepare();
  /// Maps the slot of `window` into this process, unless it is mapped already: cheaper than a fault
  /// for each page. Slots are mapped one by one, so that other ranks can go on meanwhile.
  void map(std::int64_t window);

  /// The bytes of all slots. The maps lie behind them; between calls they hold no marks.
  std::span<std::byte> all_bytes() const {
    return {memory_.base, static_cast<std::size_t>(geometry_.count * geometry_.window_size)};
  }
  /// The state of a window that has a slot. No other rank may pass the window on meanwhile.
  Slot& slot(std::int64_t window) const { return staging_->slots[index(window)]; }
  /// The number of the slot that the window has.
  std::size_t index(std::int64_t window) const {
    const int place = find(window);
    assert(place >= 0);
    return static_cast<std::size_t>(place);
  }
  /// The state of any window; null if it has no slot. If others may pass the window on meanwhile,
  /// the state may be that of another window: look again before acting.
  Slot* find_slot(std::int64_t window) const {
    const int place = find(window);
    return place < 0 ? nullptr : &staging_->slots[static_cast<std::size_t>(place)];
  }
  /// The window that slot `index` belongs to.
  std::int64_t window_at(int index) const {
    assert(0 <= index && index < kMaxSlots);
    return staging_->windows[static_cast<std::size_t>(index)].load(std::memory_order_acquire);
  }
  std::byte* bytes(std::int64_t window) const {
    return memory_.base + index(window) * static_cast<std::size_t>(geometry_.window_size);
  }
  plan::Coverage coverage(std::int64_t window, int granule_shift) const;

  bool has_slot(std::int64_t window) const { return find(window) >= 0; }
  /// For reads: whether the window's bytes are in its slot, as far as the file had them.
  bool is_loaded(std::int64_t window) const {
    const Slot* const slot = find_slot(window);
    return slot != nullptr && slot->loaded.load(std::memory_order_acquire) == window + 1;
  }
  /// For reads: notes that the window's bytes below `valid_end` are in its slot. `system_error`:
  /// why not more; 0 at the end of the file.
  void set_loaded(std::int64_t window, FileOffset valid_end, int system_error) const;
  /// `window` is done: its slot goes to the next window that has none.
  void pass_on(std::int64_t window) const;

 private:
  /// The number of a window's slot; -1: it has none.
  int find(std::int64_t window) const {
    assert(window >= 0);
    const int last = found_[static_cast<std::size_t>(window) % found_.size()];
    return window_at(last) == window ? last : search(window);
  }
  int search(std::int64_t window) const;

  static_assert(kMaxSlots <= 64);

  Staging* staging_;
  fabric::MemoryRange memory_;
  SlotGeometry geometry_;
  std::uint64_t mapped_ = 0;  ///< a bit for each slot
  /// Where windows were last found: each is looked up several times.
  mutable std::array<std::uint8_t, kMaxSlots> found_{};
};

}  // namespace headrace::exchange
