#include "exchange/slots.h"

#include <cassert>
#include <cstring>

#include "fabric/shared_memory.h"

namespace headrace::exchange {

void Slots::prepare() {
  const auto size = static_cast<std::size_t>(geometry_.window_size);
  const auto count = static_cast<std::size_t>(geometry_.count);
  std::memset(memory_.base + count * size, 0,
              count * (size / 8));  // another file may have used the memory
  const std::int64_t next = staging_->next.load(std::memory_order_relaxed);
  const std::int64_t end = next + geometry_.count;
  for (std::int64_t window = next; window < end; ++window) {
    const auto place = static_cast<std::size_t>(window % geometry_.count);
    staging_->windows[place].store(window, std::memory_order_relaxed);
    Slot& fresh = staging_->slots[place];
    fresh.arrived.store(0, std::memory_order_relaxed);
    fresh.pieces.store(0, std::memory_order_relaxed);
    fresh.loaded.store(0, std::memory_order_relaxed);
  }
  staging_->without_slot.store(end, std::memory_order_relaxed);
  staging_->populated.store(0, std::memory_order_relaxed);
}

void Slots::map(std::int64_t window) {
  const std::uint64_t bit = std::uint64_t{1} << index(window);
  if ((mapped_ & bit) != 0) return;
  mapped_ |= bit;
  const bool has_pages = (staging_->populated.load(std::memory_order_relaxed) & bit) != 0;
  fabric::SharedMemory::populate(bytes(window), static_cast<std::size_t>(geometry_.window_size),
                                 has_pages);
  if (!has_pages) staging_->populated.fetch_or(bit, std::memory_order_relaxed);
}

plan::Coverage Slots::coverage(std::int64_t window, int granule_shift) const {
  assert(granule_shift >= 0);
  const auto size = static_cast<std::size_t>(geometry_.window_size);
  std::byte* maps = memory_.base + static_cast<std::size_t>(geometry_.count) * size;
  std::byte* map = maps + index(window) * (size / 8);
  return {reinterpret_cast<plan::Coverage::Word*>(map), granule_shift};
}

int Slots::search(std::int64_t window) const {
  if (window >= staging_->without_slot.load(std::memory_order_relaxed)) return -1;
  for (int place = 0; place < geometry_.count; ++place) {
    if (window_at(place) != window) continue;
    found_[static_cast<std::size_t>(window) % found_.size()] = static_cast<std::uint8_t>(place);
    return place;
  }
  return -1;
}

void Slots::set_loaded(std::int64_t window, FileOffset valid_end, int system_error) const {
  assert(system_error >= 0);
  Slot& loaded = slot(window);
  loaded.valid_end = valid_end;
  loaded.system_error = system_error;
  loaded.loaded.store(window + 1, std::memory_order_release);
}

void Slots::pass_on(std::int64_t window) const {
  const std::size_t place = index(window);
  staging_->slots[place].arrived.store(0, std::memory_order_relaxed);
  const std::int64_t next = staging_->without_slot.fetch_add(1, std::memory_order_relaxed);
  staging_->windows[place].store(next, std::memory_order_release);
}

}  // namespace headrace::exchange
