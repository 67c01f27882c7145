#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "fabric/posted_value.h"
#include "record/file_counts.h"

namespace headrace::file {

/// Requests to storage of one open file on one rank. Added to from several threads, by
/// record::add().
struct StoreRequests {
  std::int64_t reads;
  std::int64_t writes;
  std::int64_t unaligned;  ///< of both, such that begin or end inside of a unit
  std::int64_t small;      ///< of both, such of less than a unit
  std::int64_t unit;       ///< bytes: a stripe, or a block of the file system; 0: not known yet

  void note(Direction direction, FileOffset offset, ByteCount bytes);
};

/// What one rank did with a file between open and close; added up, what all did.
struct IoSums {
  std::int64_t active_ranks = 0;  ///< that moved bytes to or from storage
  std::int64_t reads = 0;         ///< calls of ranks: a collective call counts on each
  std::int64_t writes = 0;
  std::int64_t collective_reads = 0;
  std::int64_t collective_writes = 0;
  std::int64_t read = 0;  ///< bytes
  std::int64_t written = 0;
  std::int64_t store_read = 0;
  std::int64_t store_written = 0;
  std::int64_t store_reads = 0;  ///< requests
  std::int64_t store_writes = 0;
  std::int64_t unaligned = 0;
  std::int64_t small = 0;

  void combine(const IoSums& other);
};

/// Nanoseconds of a rank: in all calls on the file, and of these in the phases of collective calls.
enum IoTime { in_calls, exchanging, waiting, copying, storing };
inline constexpr std::size_t kIoTimes = 5;

struct IoTimes {
  std::array<std::int64_t, kIoTimes> least{};
  std::array<std::int64_t, kIoTimes> greatest{};
  std::array<std::int64_t, kIoTimes> sum{};

  static IoTimes of(const std::array<std::int64_t, kIoTimes>& own) { return {own, own, own}; }
  void combine(const IoTimes& other);
};

/// Of one rank: what was counted since `begin`, with ticks of so many nanoseconds.
IoSums sums_of(const record::FileCounts& begin, const record::FileCounts& now,
               const StoreRequests& requests);
std::array<std::int64_t, kIoTimes> times_of(const record::FileCounts& begin,
                                            const record::FileCounts& now, double tick);

/// For whom the lines are: the file and its ranks.
struct IoShape {
  std::string path;
  int ranks = 0;
  int nodes = 0;
  ByteCount unit = 0;  ///< see StoreRequests
};

/// What HEADRACE_IO_STATS prints of a file, and HEADRACE_IO_TIMERS.
std::vector<std::string> statistics_lines(const IoShape& shape, const IoSums& sums);
std::vector<std::string> timer_lines(const IoShape& shape, const IoTimes& times);

}  // namespace headrace::file
