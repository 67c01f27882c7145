#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/hints.h"
#include "common/json.h"
#include "common/world.h"

namespace headrace::bench {

/// One timed write or read of a benchmark that moves everything in one call.
struct TimedAccess {
  bool writing = false;
  std::int64_t repetition = 0;
  std::int64_t bytes = 0;
  Durations seconds;
  Hints hints;  ///< of the file just before it was closed

  double bandwidth() const { return static_cast<double>(bytes) / seconds.total; }
};

/// The head and the lines of the table of accesses.
void print_access_header();
void print_access(const TimedAccess& access);

/// "Max Write: 1234.56 MiB/sec (1294.53 MB/sec)" and the same for reads, where there were any.
void print_maxima(const std::vector<TimedAccess>& accesses);

/// The member "results": an array with an object for each access.
void write_accesses(JsonWriter& json, const std::vector<TimedAccess>& accesses);

}  // namespace headrace::bench
