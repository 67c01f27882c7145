#pragma once

#include <cstdint>

namespace headrace::bench::overlap {

/// Work for one core that makes no system call and stays in its cache.
class Computation {
 public:
  /// Finds out how fast this core is.
  Computation();

  /// Computes for about so long; returns something that depends on all of it.
  double run(double seconds) const;

 private:
  double rounds_per_second_ = 0;
};

}  // namespace headrace::bench::overlap
