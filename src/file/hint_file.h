#pragma once

#include <string>
#include <string_view>

#include "file/hints.h"

namespace headrace::file {

/// Hints for all files, in a form that ROMIO defined: see HEADRACE_HINTS_FILE.
struct HintFile {
  Hints hints;
  std::string problem;  ///< why not all of it counts, or empty
};

/// `path`: for the problem.
HintFile parse_hint_file(std::string_view text, std::string_view path);

/// What the file at `path` says. One that is not there has no hints, which is a problem where it
/// `must_exist`.
HintFile read_hint_file(const std::string& path, bool must_exist);

/// The file that the settings name, as it was when this process asked first.
const HintFile& hint_file();

}  // namespace headrace::file
