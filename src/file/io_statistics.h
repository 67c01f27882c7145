#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "fabric/combining.h"
#include "fabric/posted_value.h"
#include "record/file_counts.h"

namespace headrace::file {

/// Calls of the program on a file.
struct CallSums {
  std::int64_t active_ranks = 0;  ///< that moved bytes to or from storage
  std::int64_t reads = 0;         ///< calls of ranks: a collective call counts on each
  std::int64_t writes = 0;
  std::int64_t collective_reads = 0;
  std::int64_t collective_writes = 0;
  std::int64_t read = 0;  ///< bytes
  std::int64_t written = 0;

  void combine(const CallSums& other);
};

/// Requests of one direction to storage.
struct RequestSums {
  std::int64_t aggregators = 0;  ///< ranks that made some in collective calls
  std::int64_t independent = 0;  ///< ranks that made some in other calls
  std::int64_t bytes = 0;
  std::int64_t requests = 0;
  std::int64_t collective = 0;  ///< of these, in collective calls
  std::int64_t whole = 0;       ///< of exactly a unit
  std::int64_t small = 0;       ///< of less
  std::int64_t unaligned = 0;
  std::int64_t repeated = 0;  ///< system calls
  std::int64_t gaps = 0;      ///< of writes: left out between bytes of one buffer
  std::int64_t gap_bytes = 0;

  void combine(const RequestSums& other);
};

/// What one rank did with a file between open and close; added up, what all did.
struct IoSums {
  CallSums calls;
  RequestSums to_storage;
  RequestSums from_storage;

  void combine(const IoSums& other);
};

/// Nanoseconds of a rank: in all calls on the file, and of these in opening and closing it, and in
/// the phases of collective calls.
enum IoTime {
  in_calls,
  opening,
  closing,
  meeting,
  exchanging,
  sending,
  waiting,
  copying,
  reading,
  writing
};
inline constexpr std::size_t kIoTimes = 10;
using OwnTimes = std::array<std::int64_t, kIoTimes>;

struct IoTimes {
  OwnTimes least{};
  OwnTimes greatest{};
  OwnTimes sum{};

  static IoTimes of(const OwnTimes& own) { return {own, own, own}; }
  void combine(const IoTimes& other);
};

/// Collective: over all ranks.
Error add_up(fabric::Combining& ranks, IoSums& sums);
Error add_up(fabric::Combining& ranks, IoTimes& times);

/// Of one rank: what was counted since `begin`, with ticks of so many nanoseconds.
IoSums sums_of(const record::FileCounts& begin, const record::FileCounts& now);
OwnTimes times_of(const record::FileCounts& begin, const record::FileCounts& now, double tick);

/// For whom the lines are: the file and its ranks.
struct IoShape {
  std::string path;
  int ranks = 0;
  int nodes = 0;
  std::int64_t opens = 0;  ///< how often it has been opened, this time included; 0: not known
  ByteCount unit = 0;      ///< see record::FileCounts; 0: unknown, or of several files
  Stripes stripes = {};
};

/// One rank, for the lines on each.
struct RankIo {
  IoSums sums;
  std::array<char, 64> host{};  ///< ends with a zero
};

/// What HEADRACE_IO_STATS prints of a file, and HEADRACE_IO_TIMERS.
std::vector<std::string> statistics_lines(const IoShape& shape, const IoSums& sums);
std::vector<std::string> timer_lines(const IoShape& shape, const IoTimes& times);
/// What each rank did. Neighbours that did the same are one line; there are no more lines than
/// people read.
std::vector<std::string> rank_lines(const std::vector<RankIo>& ranks);

/// Files of one rank each, of many ranks.
struct LoneSums {
  std::int64_t ranks = 0;
  std::int64_t files = 0;
  IoSums sums;
  IoTimes times;

  void combine(const LoneSums& other);
};

/// `example`: one of them.
std::vector<std::string> lone_statistics_lines(const std::string& example, const LoneSums& sums);
std::vector<std::string> lone_timer_lines(const std::string& example, const LoneSums& sums);

}  // namespace headrace::file
