#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "file/file.h"
#include "sim/disk.h"
#include "sim/requests.h"

namespace headrace::sim {

using steps::Mode;
using steps::Step;
using steps::StepKind;

/// Of the data of all steps, beside their salt.
inline constexpr std::uint64_t kDataSeed = 0;

/// What one rank must get from a step.
struct Expected {
  ErrorClass error = ErrorClass::success;  ///< access
  ByteCount bytes = 0;                     ///< access
  Bytes memory;                            ///< access: the buffer afterwards
  std::int64_t pointer = 0;                ///< access, seek: in etypes
  std::optional<std::int64_t> value;       ///< get_size, byte_offset
};

/// What all ranks do next with one file, and what must come of it.
struct StoryStep {
  Step step;
  bool meets_first = false;        ///< the ranks wait for each other before it
  std::vector<Expected> expected;  ///< of each rank; none where the call must succeed, no more
};

/// What happens to one file between open and close.
struct FileStory {
  std::string path;
  Mode mode;
  file::Hints hints;
  std::optional<Bytes> before;  ///< the file, if it exists
  std::vector<StoryStep> steps;
  std::optional<Bytes> after;
};

struct Scenario {
  int ranks = 1;
  std::vector<std::string> nodes;  ///< of each rank
  std::vector<FileStory> files;
  /// The files' steps in the order in which all ranks take them, by file number; or each file has a
  /// thread of its own on every rank.
  std::vector<int> order;
  bool has_thread_a_file = false;
  int delay_every = 0;    ///< of the disk
  bool is_local = false;  ///< the disk: a node's own, though all see it here
};

/// A random scenario and what must come of it by the rules of MPI.
Scenario make_scenario(std::uint64_t seed);

file::Hints random_hints(Random& random);
std::vector<std::string> random_nodes(Random& random, int ranks);
int random_rank_count(Random& random);

}  // namespace headrace::sim
