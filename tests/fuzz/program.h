#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "steps/step.h"

namespace headrace::fuzz {

// A program that uses every access function of MPI-IO, as plain data. It has a text form (text.h),
// a validity (rules.h), an outcome (observations.h), and is run by the simulation (sim/run.h) and
// through MPI.

using namespace steps;

struct File {
  /// Ranks with the same number open the same file, on a communicator of their own.
  std::vector<int> groups;
  std::optional<std::int64_t> size;  ///< of the file at the beginning; absent: it does not exist
  Mode mode;
  Hints hints;
};

struct Program {
  std::uint64_t seed = 0;          ///< of the data
  std::vector<int> nodes;          ///< of each rank
  bool has_thread_a_file = false;  ///< else all ranks take the steps in the order given
  int delay_every = 0;             ///< simulation: about one in so many file operations is slow
  std::int64_t chunk = 0;          ///< simulation: the disk moves so many bytes at once; 0: all
  bool on_real_files = false;      ///< simulation: no disk, but system calls that are cut short
  std::vector<File> files;
  std::vector<Step> steps;

  int ranks() const { return static_cast<int>(nodes.size()); }
};

/// The ranks that open a file together, in rank order.
struct Group {
  int file = 0;
  int number = 0;
  std::vector<int> ranks;
  std::string name;  ///< of the file: distinct for each group
};
std::vector<Group> groups_of(const Program& program);

}  // namespace headrace::fuzz
