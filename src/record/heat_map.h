#pragma once

#include <atomic>
#include <cstdint>

#include "record/heat_counts.h"

namespace headrace::record {

class ImageFile;

/// This rank's tables, in the image; null if nothing is recorded.
extern std::atomic<HeatTables*> heat_tables;
/// From when on its time counts, in ticks.
extern std::int64_t heat_origin;

/// Sets up the tables; without room for them none are kept.
void begin_heat_map(ImageFile& image, std::int64_t begin_ticks);

/// Adds `bytes`, which were moved from `begin` to `end`, in ticks since the begin: evenly over that
/// time, and no byte more or less.
void spread_heat(HeatTable& table, std::int64_t HeatBin::* direction, std::int64_t bytes,
                 std::int64_t begin, std::int64_t end) noexcept;

/// The same of this rank. `begin` of 0: all at the end. Any thread may call it, and signal
/// handlers.
inline void add_heat(HeatLayer layer, bool writes, std::int64_t bytes, std::int64_t begin,
                     std::int64_t end) noexcept {
  HeatTables* const tables = heat_tables.load(std::memory_order_acquire);
  if (tables == nullptr || bytes <= 0) return;
  HeatTable& table = tables->layers[static_cast<std::size_t>(layer)];
  std::int64_t HeatBin::* const direction = writes ? &HeatBin::written : &HeatBin::read;
  const std::int64_t last = end - heat_origin;
  const std::size_t place = heat_place(last);
  if (begin == 0 || begin - heat_origin >= heat_begin(place)) [[likely]] {
    std::atomic_ref(table.places[place].*direction).fetch_add(bytes, std::memory_order_relaxed);
    return;
  }
  spread_heat(table, direction, bytes, begin - heat_origin, last);
}

}  // namespace headrace::record
