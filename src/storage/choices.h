#pragma once

#include <string>

#include "base/settings.h"

namespace headrace::storage {

/// Which optional things a store did.
struct Choices {
  bool waited_for_turns = false;    ///< waited for another rank before writing (WriteTurn)
  bool read_by_other_ways = false;  ///< read to misplaced memory through a buffer (RealignedReads)
  bool passed_cache = false;        ///< moved bytes past the page cache (DirectIo)
};

/// Text about these for the report, with the reasons; empty if the store did nothing optional.
std::string explain(const Choices& choices, UseSetting write_turns, UseSetting realign_reads);

}  // namespace headrace::storage
