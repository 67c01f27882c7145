#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collective/operation.h"
#include "collective/ranks.h"

/// Which collective operations are carried out, and where: the user's settings, and what was
/// measured under this MPI library.
namespace headrace::HEADRACE_FLAVOUR {

/// Which operations the user leaves to the library, a bit each, and names that are of none.
struct SwitchedOff {
  unsigned operations = 0;
  std::vector<std::string> unknown;
};
const SwitchedOff& switched_off();

/// Where calls are carried out; none where the user wants us to carry out all we can. Throws
/// std::bad_alloc.
std::optional<collective::Measured> what_was_measured();

/// Why the library carries out all calls of the operation, on whichever communicator; null if it
/// may be otherwise. It is the same on all ranks, since only settings tell, of which all ranks have
/// the same: a table of the user's own is not looked at, which may be another file on each node.
const char* why_never(collective::Operation operation);

/// Whether calls of the operation come here: to be carried out, or to be told of.
bool is_watched(collective::Operation operation);

/// Records, on rank 0, which operations are not watched. The command knows how often the program
/// called them (analysis/decisions.py).
void record_unwatched();

}  // namespace headrace::HEADRACE_FLAVOUR
