#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::bench {

/// Extents, coordinates or a process grid, by axis.
using Extents = std::vector<std::int64_t>;

/// INT64_MAX where the product is beyond it.
std::int64_t product(const Extents& extents);

/// "32x16" with `separator` 'x'.
std::string text_of(const Extents& extents, char separator);

/// Reads positive numbers below 2^31 with commas between, `fewest` to `most` of them. Throws
/// AgreedFailure (exit code 2) that says what `option` must be: "<option> must be <what>".
Extents parse_extents(const std::string& option, std::string_view text, std::size_t fewest,
                      std::size_t most, const std::string& what);

/// A process grid for `size` ranks that divides `extents` and leaves each rank a multiple of
/// `granules` on each axis; the first axes are split first, as evenly as the extents allow. Empty
/// where there is none.
Extents choose_grid(const Extents& extents, int size, const Extents& granules);

/// Throws AgreedFailure (exit code 2) unless `grid` is one of `size` ranks and divides `extents`;
/// `what` names what has the extents ("lattice").
void check_grid(const std::string& what, const Extents& extents, const Extents& grid, int size);

}  // namespace headrace::bench
