#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steps/view_map.h"

namespace headrace::steps {

// The language of the tests' steps: every call on an open file, as plain data. The engine's driver
// takes them (steps/engine/driver.h), and the fuzzer through MPI, too.

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
/// When a nonblocking or split access is completed.
enum class Ending {
  later,    ///< by a step wait or end
  at_once,  ///< by the step that begins it
  never,    ///< the program never asks what became of it; the step lasts until it is done
};
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
  bool at_pointer = false;  ///< access: by the individual pointer where the others have offsets
  bool on_device = false;   ///< access: the buffer lies in a device's memory
  std::uint64_t salt = 0;   ///< access: what the data depends on besides
  View view;                ///< set_view
  std::vector<int> waits;   ///< wait: the ids of accesses, in this order
  bool wrong = false;       ///< its arguments are wrong, or differ from the others'
};

struct Step {
  int file = 0;
  int id = 0;  ///< unique in the program; the data that is written depends on it
  StepKind kind = StepKind::access;

  bool is_write = true;
  bool is_collective = false;  ///< of a shared access: ordered
  Positioning positioning = Positioning::explicit_offset;
  Style style = Style::blocking;  ///< split: collective only
  Ending ending = Ending::later;

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

/// Whether a file's ranks must all take the step.
bool is_collective(const Step& step);

}  // namespace headrace::steps
