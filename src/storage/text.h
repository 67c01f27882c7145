#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace::storage {

/// Removes the text up to the next `separator`, and the separator, and returns the text.
inline std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return word;
}

/// The whole text of a file such as those of /proc; nothing if it is empty or cannot be read.
std::optional<std::string> text_of(const std::string& path);

}  // namespace headrace::storage
