#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// The one of `names` that `name` was most likely meant to be, or empty where none is near: at most
/// a quarter of its characters must be inserted, deleted or replaced.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

/// `text` with small letters for A to Z, in any locale.
std::string lower_case(std::string_view text);

inline constexpr std::size_t kMostPrinted = 60;

/// Text from outside as a message may show it: cut where it is longer than `most`, and with nothing
/// that a terminal would obey.
std::string printable(std::string_view text, std::size_t most = kMostPrinted);

}  // namespace headrace
