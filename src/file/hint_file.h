#pragma once

#include <string>
#include <string_view>

#include "file/hints.h"

namespace headrace::file {

/// Hints for all files, in ROMIO's format: see HEADRACE_HINTS_FILE.
struct HintFile {
  Hints hints;
  std::string problem;  ///< why a part of the file is ignored, or empty
};

/// Parses a hint file's text. `path` is for the problem's text.
HintFile parse_hint_file(std::string_view text, std::string_view path);

/// Reads the file at `path`. A missing file has no hints; that is a problem if it `must_exist`.
HintFile read_hint_file(const std::string& path, bool must_exist);

/// The file that the settings name, read at the first call in this process.
const HintFile& hint_file();

}  // namespace headrace::file
