#pragma once

#include <cstdint>

namespace headrace {

/// Tells whether the process that made the mark is the one that asks. A forked child lacks its
/// parent's other threads, and locks that they held stay locked: the child must leave alone what
/// those threads share.
class ProcessMark {
 public:
  ProcessMark();
  bool is_here() const;

 private:
  std::uint32_t forks_;
};

}  // namespace headrace
