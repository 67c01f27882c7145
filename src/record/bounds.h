#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

/// What images say, brought into bounds: a killed process may have left anything half written.
namespace headrace::record {

inline std::int64_t not_negative(std::int64_t value) {
  return std::max<std::int64_t>(value, 0);
}

/// A field that is a whole number.
inline std::int64_t number_in(std::string_view text, std::int64_t otherwise) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

}  // namespace headrace::record
