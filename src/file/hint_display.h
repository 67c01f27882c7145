#pragma once

#include <string>

#include "file/hints.h"

namespace headrace::file {

/// What is known of a file's hints.
struct HintsKnown {
  Hints in_force;  ///< with what was found and what is told of the file
  Hints asked;     ///< before the file and the ranks were looked at
  Hints origins;   ///< who asked
};

/// Lines for people: each hint that is in force for the file, and where its value comes from.
std::string explain_hints(const std::string& path, const HintsKnown& known);

}  // namespace headrace::file
