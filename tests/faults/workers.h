#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "faults/coverage.h"

namespace headrace::faults {

inline constexpr int kMaxJobs = 64;

/// What all worker processes did so far. Lives in shared memory.
struct Progress {
  Coverage coverage;
  std::atomic<std::int64_t> runs;
  std::atomic<std::int64_t> struck;  ///< faults, however often each
  std::atomic<std::int64_t> next;    ///< item that nobody has begun
  /// Of each worker, the item that it is at, plus one; 0: none. Left where the run was killed.
  std::array<std::atomic<std::int64_t>, kMaxJobs> begun;
  std::atomic<std::int64_t> failures;
  std::atomic<std::uint64_t> what;  ///< is run, as one number
};

/// One worker's: says what it is at, for a report where it dies.
struct Place {
  std::atomic<bool> is_done;  ///< with all its items
  char text[400];
};

/// Does one item of work and returns what is wrong, or nothing. Calls `begin(text)` before each run
/// so that a hang is told of that run.
using Begin = std::function<void(const std::string& text)>;
using Work = std::function<std::string(std::int64_t item, Progress& progress, const Begin& begin)>;

/// Does items from progress.next to before `count`, or until `enough()`, in `jobs` processes, each
/// in a directory of its own. What fails is printed and counted, and the others go on.
void work_off(std::int64_t count, int jobs, Progress& progress, const Work& work,
              const std::function<bool()>& enough);

/// In memory that is shared with the workers; of a file, where one is named, which keeps it: the
/// next run of `what` goes on where this one stops. Null where the file is about something else.
Progress* make_progress(const std::string& path, const std::string& what);

}  // namespace headrace::faults
