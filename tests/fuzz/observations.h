#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/program.h"
#include "sim/content.h"
#include "steps/memory.h"

namespace headrace::fuzz {

/// What one rank saw of one step. Whoever runs a program records it; `check` judges it.
struct Seen {
  /// The error's class: MPI's name in small letters without MPI_ERR_, or empty. Of a nonblocking or
  /// split access the error of the start, or where there was none that of the completion.
  std::string error;
  std::string message;                ///< of the error
  std::int64_t bytes = 0;             ///< access: the number that the status tells
  std::vector<std::uint8_t> memory;   ///< access: all of the buffer (see make_memory) when complete
  std::optional<std::int64_t> value;  ///< what shared_position, byte_offset or get_size returned
  /// The individual pointer right after the step. It need not be asked for.
  std::optional<std::int64_t> position;
  bool cancelled = false;
};

/// A file's content, or nothing where it does not exist.
using Look = std::optional<sim::Content>;

struct Observations {
  std::vector<std::map<int, Seen>> of_rank;  ///< by the step's id
  /// By group name and step id: at a `meet` that looks and at a `reopen`, while no rank works on
  /// the file; and by id 0 at the end.
  std::map<std::pair<std::string, int>, Look> looks;
  std::vector<std::string> problems;  ///< what went wrong outside of steps: opens, closes
};

inline Memory make_memory(const Program& program, const Step& step, int rank) {
  return steps::make_memory(program.seed, step, rank);
}

/// What a group's file holds at the beginning.
Look initial_content(const Program& program, const Group& group);

/// Runs nothing: judges what was seen. Returns what the standard does not permit, for people.
std::vector<std::string> check(const Program& program, const Observations& observations);

}  // namespace headrace::fuzz
