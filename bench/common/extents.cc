#include "common/extents.h"

#include <charconv>

#include "common/failure.h"

namespace headrace::bench {

std::int64_t product(const Extents& extents) {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(result, extent, &result)) return INT64_MAX;
  }
  return result;
}

std::string text_of(const Extents& extents, char separator) {
  std::string text;
  for (const std::int64_t extent : extents) {
    if (!text.empty()) text += separator;
    text += std::to_string(extent);
  }
  return text;
}

Extents parse_extents(const std::string& option, std::string_view text, std::size_t fewest,
                      std::size_t most, const std::string& what) {
  Extents extents;
  const char* position = text.data();
  const char* end = text.data() + text.size();
  bool good = true;
  while (good) {
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(position, end, extent);
    good = error == std::errc() && extent >= 1 && extent <= INT32_MAX;
    extents.push_back(extent);
    if (stop == end) break;
    good = good && *stop == ',';
    position = stop + 1;
  }
  if (!good || extents.size() < fewest || extents.size() > most) {
    throw AgreedFailure("bad value '" + std::string(text) + "' for " + option + " (it must be " +
                            what + "), correct it",
                        2);
  }
  return extents;
}

Extents choose_grid(const Extents& extents, int size, const Extents& granules) {
  Extents grid(extents.size(), 1);
  std::int64_t rest = size;
  for (std::int64_t prime = 2; rest > 1;) {
    if (rest % prime != 0) {
      ++prime;
      continue;
    }
    std::size_t best = extents.size();
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      const std::int64_t local = extents[axis] / grid[axis];
      const bool fits = local % prime == 0 && local / prime % granules[axis] == 0;
      if (fits && (best == extents.size() || grid[axis] < grid[best])) best = axis;
    }
    if (best == extents.size()) return {};
    grid[best] *= prime;
    rest /= prime;
  }
  return grid;
}

void check_grid(const std::string& what, const Extents& extents, const Extents& grid, int size) {
  if (grid.empty()) {
    throw AgreedFailure("no process grid of " + std::to_string(size) + " ranks divides the " +
                            what + " " + text_of(extents, ',') +
                            ", change --dims or the number of ranks",
                        2);
  }
  if (grid.size() != extents.size() || product(grid) != size) {
    throw AgreedFailure("the process grid " + text_of(grid, ',') + " is not one of " +
                            std::to_string(size) + " ranks for the " + what + " " +
                            text_of(extents, ',') + ", change --grid or the number of ranks",
                        2);
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] % grid[axis] == 0) continue;
    throw AgreedFailure("the " + what + " " + text_of(extents, ',') +
                            " is not divisible by the process grid " + text_of(grid, ',') +
                            ", change --dims or --grid",
                        2);
  }
}

}  // namespace headrace::bench
