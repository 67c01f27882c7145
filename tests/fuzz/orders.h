#pragma once

#include <string>
#include <vector>

#include "fuzz/footprint.h"
#include "fuzz/model.h"

namespace headrace::fuzz {

/// A rank's part of a step that no other rank's call is known to precede or follow.
struct Unit {
  Call call;
  Memory memory;
  const Seen* seen = nullptr;
  std::string name;  ///< for messages
};

/// What remains of the possible worlds, and where none does, why.
struct Remaining {
  std::vector<World> worlds;
  std::string problem;
};

/// Does the units in every order that keeps each rank's own, in each of the worlds, and keeps the
/// worlds in which every rank sees what it saw. Units that commute with all that follow are not
/// permuted, and orders that lead to one world go on as one.
Remaining act_in_all_orders(const FileState& state, const std::vector<World>& worlds,
                            const std::vector<Unit>& units);

/// How what was seen differs from what is expected, or empty.
std::string difference(const Expected& expected, const Seen& seen, bool is_access);
std::string pointer_difference(std::int64_t expected, const Seen& seen);

}  // namespace headrace::fuzz
