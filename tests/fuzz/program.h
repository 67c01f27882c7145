#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "steps/view_map.h"

namespace headrace::fuzz {

// A program that uses every access function of MPI-IO, as plain data. It has a text form (text.h),
// a validity (rules.h), an outcome (observations.h), and is run by the simulation (sim/run.h) and
// through MPI.

using namespace steps;

/// MPI's access mode.
struct Mode {
  bool read = true;
  bool write = true;
  bool create = false;
  bool exclusive = false;
  bool append = false;
  bool sequential = false;
  bool delete_on_close = false;
  bool unique_open = false;

  bool operator==(const Mode&) const = default;
};

using Hints = std::map<std::string, std::string>;

enum class StepKind {
  access,           ///< one of the access functions; a split collective begins
  end,              ///< the split collective that is active ends
  wait,             ///< requests are completed
  seek,             ///< of the individual pointer
  seek_shared,      ///< collective
  shared_position,  ///< MPI_File_get_position_shared
  byte_offset,      ///< MPI_File_get_byte_offset
  set_view,         ///< collective
  set_size,         ///< collective
  preallocate,      ///< collective
  get_size,
  set_hints,      ///< collective: MPI_File_set_info
  set_atomicity,  ///< collective
  sync,           ///< collective
  meet,           ///< sync, barrier, sync; in atomic mode a barrier
  reopen,         ///< collective: closes, meets, and opens again
};

enum class Positioning { explicit_offset, individual, shared };
enum class Style { blocking, nonblocking, split };
enum class Whence { set, current, end };

/// How requests are completed. The simulation knows waiting only.
enum class Completion { wait, test, waitall, waitany, waitsome, testall, testany, testsome };

/// What one rank brings to a step.
struct Part {
  bool takes_part = true;   ///< false only in steps that are not collective
  std::int64_t offset = 0;  ///< access, seek, byte_offset: in etypes
  std::int64_t count = 0;   ///< access
  TypeTree memory;          ///< access
  bool absolute = false;    ///< access: MPI_BOTTOM and a type of absolute addresses
  View view;                ///< set_view
  std::vector<int> waits;   ///< wait: the ids of accesses, in this order
};

struct Step {
  int file = 0;
  int id = 0;  ///< unique in the program; the data that is written depends on it
  StepKind kind = StepKind::access;

  bool is_write = true;
  bool is_collective = false;  ///< of a shared access: ordered
  Positioning positioning = Positioning::explicit_offset;
  Style style = Style::blocking;  ///< split: collective only

  Whence whence = Whence::set;
  std::int64_t value = 0;  ///< seek_shared: the offset; set_size, preallocate: the size
  bool atomic = false;     ///< set_atomicity
  bool cancels = false;    ///< wait: requests are cancelled first
  bool looks = false;      ///< meet: the file's content is looked at
  Completion completion = Completion::wait;
  Mode mode;    ///< reopen
  Hints hints;  ///< reopen, set_hints, set_view

  std::vector<Part> parts;  ///< of every rank of the program
};

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

/// Whether a file's ranks must all take the step.
bool is_collective(const Step& step);

}  // namespace headrace::fuzz
