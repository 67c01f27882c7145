#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace {

/// Hints for the files that a pattern names; "" stands for all files.
struct PatternHints {
  std::string pattern;
  std::map<std::string, std::string> hints;
};

/// A file of settings and hints, in the form of `headrace run --settings`:
///
///     [settings]
///     buffer_size = "1m"
///     [hints]              # for all files
///     cb_nodes = 8
///     [hints."*.h5"]       # for files that the pattern names
///     romio_cb_write = "enable"
struct SettingsFile {
  std::string path;                                           ///< empty: there is none
  std::vector<std::pair<std::string, std::string>> settings;  ///< variable and value
  std::vector<PatternHints> hints;                            ///< in the order of the file
  bool suggests = false;  ///< whether it has [headrace] or [environment], which ranks do not read
  std::vector<std::string> problems;  ///< lines on what does not count
};

/// The variable that a user's word names: `quiet`, `QUIET` and `HEADRACE_QUIET` are one.
std::string variable_name(std::string_view word);

/// `path`: for messages.
SettingsFile parse_settings_file(std::string_view text, const std::string& path);

/// What the file at `path` says, if nobody can have written it but root, this user, or whoever owns
/// the object that this code is in. A file that is not there says nothing, which is a problem where
/// it `must_exist`.
SettingsFile read_settings_file(const std::string& path, bool must_exist);

}  // namespace headrace
