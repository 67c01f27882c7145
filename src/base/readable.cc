#include "base/readable.h"

#include <array>
#include <cstddef>
#include <cstdio>

namespace headrace {

std::string readable(ByteCount bytes, Tenths tenths) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const bool has_tenths = unit > 0 && (tenths == Tenths::always || value < 10);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), has_tenths ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text.data();
}

}  // namespace headrace
