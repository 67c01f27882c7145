#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace::storage {

/// The text up to the next `separator`, which is cut off with it.
inline std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return word;
}

/// All of a file that the kernel or a client makes up as it is read; nothing where it is empty or
/// cannot be read.
std::optional<std::string> text_of(const std::string& path);

}  // namespace headrace::storage
