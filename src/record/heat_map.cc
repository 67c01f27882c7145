#include "record/heat_map.h"

#include <new>

#include "record/image_file.h"

namespace headrace::record {

std::atomic<HeatTables*> heat_tables = nullptr;
std::int64_t heat_origin = 0;

void begin_heat_map(ImageFile& image, std::int64_t begin_ticks) {
  ExtentHeader* const extent = image.take(ExtentKind::heat, kNone, sizeof(HeatTables), 1);
  if (extent == nullptr) return;
  heat_origin = begin_ticks;
  auto* const made = new (extent + 1) HeatTables{};
  extent->used.store(1, std::memory_order_release);
  heat_tables.store(made, std::memory_order_release);
}

void spread_heat(HeatTable& table, std::int64_t HeatBin::* direction, std::int64_t bytes,
                 std::int64_t begin, std::int64_t end) noexcept {
  begin = std::max<std::int64_t>(begin, 0);
  const std::size_t last = heat_place(end);
  const auto whole = static_cast<double>(end - begin);
  std::int64_t counted = 0;
  for (std::size_t place = heat_place(begin); place < last; ++place) {
    const auto part = static_cast<double>(heat_begin(place + 1) - begin) / whole;
    const auto until =
        std::min(bytes, static_cast<std::int64_t>(static_cast<double>(bytes) * part));
    std::atomic_ref(table.places[place].*direction)
        .fetch_add(until - counted, std::memory_order_relaxed);
    counted = until;
  }
  std::atomic_ref(table.places[last].*direction)
      .fetch_add(bytes - counted, std::memory_order_relaxed);
}

}  // namespace headrace::record
