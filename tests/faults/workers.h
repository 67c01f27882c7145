#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "faults/coverage.h"

namespace headrace::faults {

/// What all worker processes did so far. Lives in shared memory.
struct Progress {
  Coverage coverage;
  std::atomic<std::int64_t> runs;
  std::atomic<std::int64_t> struck;  ///< faults, however often each
};

/// One worker's: says what it is at, for a report where it dies.
struct Place {
  std::atomic<std::int64_t> item;
  char text[400];
};

/// Does one item of work and returns what is wrong, or nothing. Calls `begin(text)` before each run
/// so that a hang is told of that run.
using Begin = std::function<void(const std::string& text)>;
using Work = std::function<std::string(std::int64_t item, Progress& progress, const Begin& begin)>;

/// Does items [0, count), or until `enough()`, in `jobs` processes, each in a directory of its own.
/// What fails is printed, and the others go on. Returns the number of failures.
std::int64_t work_off(std::int64_t count, int jobs, Progress& progress, const Work& work,
                      const std::function<bool()>& enough);

/// In memory that is shared with the workers.
Progress& make_progress();

}  // namespace headrace::faults
