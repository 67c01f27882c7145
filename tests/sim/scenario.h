#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "file/file.h"
#include "sim/disk.h"
#include "sim/requests.h"
#include "sim/views.h"

namespace headrace::sim {

enum class StepKind {
  transfer,
  set_view,
  seek,
  resize,
  allocate,
  sync,
  size,
  set_hints,
  byte_offset,
  reopen,
};

/// What all ranks do next with one file, and what must come of it.
struct Step {
  StepKind kind = StepKind::transfer;
  bool meets_first = false;  ///< the ranks wait for each other before it

  Direction direction = Direction::write;
  bool collective = true;
  std::vector<Request> requests;  ///< of each rank
  std::vector<ViewModel> views;   ///< of each rank
  file::Hints hints;
  ByteCount size = 0;  ///< to set, or expected
  file::Whence whence = file::Whence::set;
  std::vector<std::int64_t> offsets;  ///< of each rank: to seek, or to ask the byte offset of
  std::vector<std::int64_t> results;  ///< of each rank: the pointer, or the byte offset
};

/// What happens to one file between open and close.
struct FileStory {
  std::string path;
  file::AccessMode mode;
  file::Hints hints;
  std::optional<Bytes> before;  ///< the file, if it exists
  std::vector<Step> steps;
  std::optional<Bytes> after;
  bool on_devices = false;  ///< about half of the buffers lie in a device's memory
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
