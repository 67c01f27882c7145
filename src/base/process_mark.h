#pragma once

#include <cstdint>

namespace headrace {

/// Tells whether this is the process that made it. A forked child has none of its parent's other
/// threads, and locks that these held are held for ever: what they share must be left alone there.
class ProcessMark {
 public:
  ProcessMark();
  bool is_here() const;

 private:
  std::uint32_t forks_;
};

}  // namespace headrace
