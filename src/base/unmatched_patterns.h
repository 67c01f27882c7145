#pragma once

#include <cstddef>
#include <string>

#include "base/spelling.h"

namespace headrace {

/// Words on patterns of one place that no file of this rank has come under.
class UnmatchedPatterns {
 public:
  explicit UnmatchedPatterns(std::string place) : place_(std::move(place)) {}

  void add(const std::string& pattern) {
    if (count_++ == 0) first_ = printable(pattern);
  }

  /// "" if there are none. Says no more than this rank knows: others may have opened files by
  /// themselves.
  std::string line() const {
    if (count_ == 0) return {};
    const bool has_more = count_ > 1;
    return place_ + ": pattern '" + first_ + "'" +
           (has_more ? " and " + std::to_string(count_ - 1) + " more" : "") +
           " changed nothing on rank 0 (it opened no file that " +
           (has_more ? "they are" : "it is") +
           " the first to match; what other ranks opened alone does not count here), give names "
           "as the program does, or a path in full";
  }

 private:
  std::string place_;
  std::string first_;
  std::size_t count_ = 0;
};

}  // namespace headrace
