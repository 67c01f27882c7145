#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/settings_file.h"

namespace headrace::file {

/// What a file of hints says: see HEADRACE_HINTS_FILE.
struct HintFile {
  std::vector<PatternHints> hints;
  std::vector<std::string> settings;  ///< variables that it gives, too, which are read elsewhere
  std::vector<std::string> problems;  ///< why parts of the file are ignored
};

/// Whether this is TOML, not ROMIO's form: what comes first, but for comments, is a bracket, with
/// which no hint's name begins.
bool is_toml(std::string_view text);

/// Parses a hint file's text, in either form. `path` is for the problems' texts.
HintFile parse_hint_file(std::string_view text, const std::string& path);

/// Reads the file at `path`. A missing file has no hints; that is a problem if it `must_exist`.
HintFile read_hint_file(const std::string& path, bool must_exist);

}  // namespace headrace::file
