#pragma once

#include <string_view>

namespace headrace::storage {

/// The text up to the next `separator`, which is cut off with it.
inline std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return word;
}

}  // namespace headrace::storage
