#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace headrace::posix {

/// A file's name, for as long as something is known of the file. Of a long one its end is kept,
/// which tells more than its begin.
class NameEnd {
 public:
  void set(std::string_view given) noexcept {
    size_ = std::min(given.size(), room_.size());
    std::ranges::copy(given.substr(given.size() - size_), room_.begin());
  }
  std::string_view text() const { return {room_.data(), size_}; }

 private:
  std::array<char, 512> room_ = {};
  std::size_t size_ = 0;
};

}  // namespace headrace::posix
