#pragma once

#include <string>

#include "base/settings.h"

namespace headrace::storage {

/// What a store did of its own accord.
struct Choices {
  bool waited_for_turns = false;    ///< to write (WriteTurn), for another rank
  bool read_by_other_ways = false;  ///< to misplaced memory (RealignedReads)
};

/// The same for the report, and why; empty where it did nothing.
std::string explain(const Choices& choices, UseSetting write_turns, UseSetting realign_reads);

}  // namespace headrace::storage
