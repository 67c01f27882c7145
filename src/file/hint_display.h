#pragma once

#include <string>

#include "file/hints.h"

namespace headrace::file {

/// What is known of a file's hints.
struct HintsKnown {
  Hints in_force;          ///< with what was found and what is told of the file
  Hints asked;             ///< what was asked for, as it was written
  Hints origins;           ///< who asked
  std::string nodes = {};  ///< see explain_nodes()
  std::string costs = {};  ///< see policy::explain_costs()
};

/// Whether the user asks for the display: by HEADRACE_HINTS_DISPLAY, or after ask_for_display().
bool is_display_wanted();
/// Another toolkit's variable asks for it. Call before the first file is opened.
void ask_for_display();

/// What is in force for a file that so many ranks have opened: `shown` is FileHints::shown().
Hints hints_in_force(Hints shown, const storage::Layout& layout, int ranks, ByteCount window_size);

/// Lines for people: each hint that is in force for the file, and where its value comes from.
std::string explain_hints(const std::string& path, const HintsKnown& known);

}  // namespace headrace::file
