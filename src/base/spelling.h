#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// The one of `names` that the user most likely meant by `name`, or empty if none is near enough:
/// at most a quarter of the characters may have to be inserted, deleted or replaced.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

/// `text` with small letters for A to Z, in any locale.
std::string lower_case(std::string_view text);

/// The text without spaces and tabs at its ends.
std::string_view without_blanks(std::string_view text);
/// The same, and without line ends.
std::string_view trimmed(std::string_view text);

inline constexpr std::size_t kMaxPrinted = 60;

/// Text from outside, made fit for a message: cut to `most` characters, with control characters
/// replaced.
std::string printable(std::string_view text, std::size_t most = kMaxPrinted);

}  // namespace headrace
