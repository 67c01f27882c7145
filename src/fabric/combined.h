#pragma once

#include <cstdint>

#include "fabric/posted_value.h"

namespace headrace::fabric {

/// One number of each rank: the greatest counts.
struct Greatest {
  std::int64_t value = 0;
  void combine(const Greatest& other) { keep_greatest(value, other.value); }
};

/// One number of each rank: they are added up.
struct Sum {
  std::int64_t value = 0;
  void combine(const Sum& other) { add(value, other.value); }
};

}  // namespace headrace::fabric
