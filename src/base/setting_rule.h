#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "base/types.h"

namespace headrace {

/// How one HEADRACE_* variable is read. The generated settings.cc holds a table of these.
struct SettingRule {
  const char* name;
  const char* default_text;  ///< as a user would write it
  /// Stores the value of `text` and returns "", or returns why it cannot and what to write instead.
  /// Null for a variable that this library knows but does not read.
  std::string (*apply)(const std::string& text, Settings& settings);
  /// Gives the setting its default.
  void (*reset)(Settings& settings);
  /// Another toolkit's variable with the same meaning, or null; ours wins if both are set, be it
  /// empty.
  const char* alias;
  /// Why files of the user and the site may not give it, and what to do; "" if they may.
  const char* not_in_files;
};

/// The settings that `environment` and the layers `below` it ask for; see read_settings.
Settings apply_rules(std::span<const SettingRule> rules, const char* const* environment,
                     std::span<const SettingLayer> below, std::vector<std::string>& problems);

/// See settings_in_force.
std::vector<SettingInForce> rules_in_force(std::span<const SettingRule> rules,
                                           const Settings& settings);

// Readers of one value: they store it and return "", or leave `value` and return the rest of a
// sentence that begins with the text, such as "is not a size (...)".

std::string read_boolean(const std::string& text, bool& value);
std::string read_integer(const std::string& text, std::int64_t minimum, std::int64_t maximum,
                         std::int64_t& value);
/// In bytes; the suffixes k, m and g (also written kb, KiB, ...) are powers of 1024.
std::string read_size(const std::string& text, ByteCount minimum, ByteCount maximum,
                      ByteCount& value);

/// COUNTxSIZE, for example 4x1m: stripes of whole pages; or "none".
std::string read_stripes(const std::string& text, Stripes& value);

/// Names with commas between them, stored in lower case without blanks around them; or "none".
std::string read_names(const std::string& text, std::vector<std::string>& value);

/// Whatever is written.
std::string read_text(const std::string& text, std::string& value);

/// "none of a, b, c"
std::string not_among(std::span<const char* const> names);

template <class Enum>
std::string read_choice(const std::string& text,
                        std::initializer_list<std::pair<const char*, Enum>> choices, Enum& value) {
  std::vector<const char*> names;
  for (const auto& [name, meaning] : choices) {
    if (text == name) {
      value = meaning;
      return {};
    }
    names.push_back(name);
  }
  return not_among(names);
}

}  // namespace headrace
