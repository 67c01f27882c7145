#pragma once

#include <cstdint>

#include "fabric/posted_value.h"

namespace headrace::fabric {

/// One number from each rank; combines to the greatest.
struct Greatest {
  std::int64_t value = 0;
  void combine(const Greatest& other) { keep_greatest(value, other.value); }
};

/// One number from each rank; combines to their sum.
struct Sum {
  std::int64_t value = 0;
  void combine(const Sum& other) { add(value, other.value); }
};

}  // namespace headrace::fabric
