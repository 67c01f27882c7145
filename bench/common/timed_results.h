#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/hints.h"
#include "common/json.h"
#include "common/world.h"

namespace headrace::bench {

/// One timed write or read.
struct TimedAccess {
  bool writing = false;
  std::int64_t repetition = 0;
  std::int64_t bytes = 0;
  Durations seconds;
  std::vector<double> calls;  ///< seconds of each call where there were several
  double between_calls = 0;   ///< seconds, not part of the others
  std::int64_t request = 0;   ///< bytes of the requests that were fastest, 0 where none were tried
  Hints hints;                ///< of the file just before it was closed

  double bandwidth() const { return static_cast<double>(bytes) / seconds.total; }
};

/// Times of the calls after the first one, in increasing order.
std::vector<double> later_calls(const TimedAccess& access);

/// The head of the output: the program's name, the MPI library, then lines "title : text".
void print_head(const std::string& program,
                const std::vector<std::pair<std::string, std::string>>& lines);

/// The head and the lines of the table of accesses.
void print_access_header();
void print_access(const TimedAccess& access);

/// "write: first call" with its time, then the median and the longest of the later ones, of the
/// accesses that made several calls.
void print_calls(const std::vector<TimedAccess>& accesses);

/// "Max Write: 1234.56 MiB/sec (1294.53 MB/sec)" and the same for reads, where there were any.
void print_maxima(const std::vector<TimedAccess>& accesses);

/// The member "results": an array with an object for each access.
void write_accesses(JsonWriter& json, const std::vector<TimedAccess>& accesses);

}  // namespace headrace::bench
