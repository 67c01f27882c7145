#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

/// A text that is put together without memory of the heap, as signal handlers must. What is too
/// long is cut.
template <std::size_t most>
class PlainText {
 public:
  PlainText& add(std::string_view part) noexcept {
    const std::size_t more = std::min(part.size(), most - size_);
    std::ranges::copy(part.substr(0, more), room_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += more;
    return *this;
  }
  PlainText& add_number(std::int64_t number) noexcept {
    std::array<char, 24> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  /// In the largest unit of which there are whole ones: "64 KiB".
  PlainText& add_bytes(std::int64_t bytes) noexcept {
    constexpr std::array<std::string_view, 4> kUnits = {" B", " KiB", " MiB", " GiB"};
    std::size_t unit = 0;
    for (; bytes > 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
    return add_number(bytes).add(kUnits[unit]);
  }
  /// Also if it is full.
  PlainText& end_with(char last) noexcept {
    size_ = std::min(size_, most - 1);
    room_[size_++] = last;
    return *this;
  }

  std::string_view text() const { return {room_.data(), size_}; }
  operator std::string_view() const { return text(); }

 private:
  std::array<char, most> room_;  // not cleared: handlers may have little time
  std::size_t size_ = 0;
};

}  // namespace headrace
