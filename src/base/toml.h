#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// One KEY = VALUE of a TOML file.
struct TomlEntry {
  std::vector<std::string> table;  ///< the names of the header above it
  std::string key;
  std::string value;  ///< without quotes; a number or true and false as they are written
  int line = 0;       ///< from 1
};

struct TomlText {
  std::vector<TomlEntry> entries;     ///< in the order of the file
  std::vector<std::string> problems;  ///< one each: "line 3 is ignored (why), what to write"
};

/// Reads the part of TOML that settings files need (toml.io, v1.0.0): comments, headers of tables
/// with bare and quoted names, keys of one name, and values that are a text of one line, a whole
/// number in decimal, true or false. What else TOML has is named and left out; so is a key or a
/// table that was there before, and all that follows a value of several lines. The rest counts.
/// Takes time in proportion to the text.
TomlText parse_toml(std::string_view text);

}  // namespace headrace
