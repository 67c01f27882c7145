#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace headrace {

/// Lines on faults of an input, which may have any number of them: keeps the first, and counts the
/// others.
class FirstLines {
 public:
  static constexpr std::size_t kMost = 20;

  void add(std::string line) {
    if (lines_.size() < kMost) {
      lines_.push_back(std::move(line));
    } else {
      ++left_out_;
    }
  }

  /// Takes the lines. Where some were left out, a last one says so: "3 more faults are not named,
  /// mend those above first". `begin`, `one`, `several`: what stands around their number.
  std::vector<std::string> take(const std::string& begin = {},
                                const std::string& one = " more fault is not named",
                                const std::string& several = " more faults are not named") {
    if (left_out_ > 0) {
      lines_.push_back(begin + std::to_string(left_out_) + (left_out_ == 1 ? one : several) +
                       ", mend those above first");
    }
    return std::move(lines_);
  }

 private:
  std::vector<std::string> lines_;
  std::size_t left_out_ = 0;
};

}  // namespace headrace
