#pragma once

#include <cstddef>
#include <string_view>

namespace headrace {

/// Longer ones name no file: a path is as long at most.
inline constexpr std::size_t kLongestPattern = 4096;

/// Whether all of `name` is as the pattern says: `*` stands for any characters, slashes included,
/// `?` for one, `[a-b]` for one of a range, `[!a-b]` for one outside of it, `\` for the character
/// behind it. Takes time in proportion to the product of both lengths at most.
bool matches(std::string_view pattern, std::string_view name);

/// Where a [...] that begins at `begin` ends, behind the bracket; npos: it is no such thing.
std::size_t end_of_set(std::string_view text, std::size_t begin);

}  // namespace headrace
