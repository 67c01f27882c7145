#include "base/settings_file.h"

#include <algorithm>
#include <cctype>

#include "base/spelling.h"
#include "base/toml.h"
#include "base/trusted_file.h"

namespace headrace {
namespace {

PatternHints& table_of(SettingsFile& file, const std::string& pattern) {
  const auto found = std::ranges::find(file.hints, pattern, &PatternHints::pattern);
  if (found != file.hints.end()) return *found;
  return file.hints.emplace_back(PatternHints{pattern, {}});
}

}  // namespace

std::string variable_name(std::string_view word) {
  constexpr std::string_view kPrefix = "HEADRACE_";
  std::string name(word);
  std::ranges::transform(name, name.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  return name.starts_with(kPrefix) ? name : std::string(kPrefix) + name;
}

SettingsFile parse_settings_file(std::string_view text, const std::string& path) {
  SettingsFile file;
  file.path = path;
  const std::string shown = "'" + printable(path) + "'";
  TomlText read = parse_toml(text);
  for (const std::string& problem : read.problems) file.problems.push_back(shown + " " + problem);
  std::string last_refused;
  for (TomlEntry& entry : read.entries) {
    const auto& table = entry.table;
    if (table.size() == 1 && table[0] == "settings") {
      file.settings.emplace_back(variable_name(entry.key), std::move(entry.value));
    } else if (table.size() == 1 && table[0] == "hints") {
      table_of(file, "").hints[entry.key] = std::move(entry.value);
    } else if (table.size() == 2 && table[0] == "hints") {
      table_of(file, table[1]).hints[entry.key] = std::move(entry.value);
    } else if (table.size() == 1 && (table[0] == "headrace" || table[0] == "environment")) {
      file.suggests = true;
    } else {
      std::string name = table.empty() ? "" : table.back();
      if (!last_refused.empty() && last_refused == name + "/") continue;
      last_refused = name + "/";
      file.problems.push_back(
          shown + " line " + std::to_string(entry.line) + " is ignored (" +
          (table.empty() ? "it stands in no table" : "no table '" + printable(name) + "' is read") +
          "), write [settings], [hints] or [hints.\"PATTERN\"] above it");
    }
  }
  return file;
}

SettingsFile read_settings_file(const std::string& path, bool must_exist) {
  SettingsFile file;
  std::string text;
  const Refusal refusal = read_trusted_file(path, text);
  if (refusal.is_missing && !must_exist) return file;
  if (refusal) {
    file.problems.push_back("'" + printable(path) + "' is ignored (" + refusal.why + "), " +
                            remedy_of(refusal, path));
    return file;
  }
  file = parse_settings_file(text, path);
  if (file.suggests) {
    file.problems.push_back("tables [headrace] and [environment] of '" + printable(path) +
                            "' are ignored (only files of --settings suggest), move them to "
                            "such a file");
  }
  return file;
}

}  // namespace headrace
