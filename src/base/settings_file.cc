#include "base/settings_file.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "base/small_file.h"
#include "base/spelling.h"
#include "base/toml.h"

namespace headrace {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 16;

/// Whoever owns this library decides already what runs in this process.
bool owns_this_library(uid_t user) {
  static const char here = 0;
  Dl_info object{};
  struct stat status{};
  return ::dladdr(&here, &object) != 0 && object.dli_fname != nullptr &&
         ::stat(object.dli_fname, &status) == 0 && status.st_uid == user;
}

/// Why others may have had a hand in it, or "". `is_directory`: with the sticky bit others cannot
/// replace what lies in it.
std::string why_not_trusted(const struct stat& status, bool is_directory) {
  constexpr mode_t kOthers = S_IWGRP | S_IWOTH;
  const bool is_safe = is_directory && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & kOthers) != 0 && !is_safe) {
    return is_directory ? "others may write to its directory" : "others may write to it";
  }
  const uid_t owner = status.st_uid;
  if (owner == 0 || owner == ::geteuid() || owns_this_library(owner)) return {};
  return std::string(is_directory ? "its directory" : "it") + " belongs to another user";
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// "" and the text, or why the open file is not used.
std::string take_trusted(int descriptor, const std::string& path, std::string& text) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::strerror(errno);
  if (S_ISCHR(status.st_mode)) {  // /dev/null has nothing to say
    text.clear();
    return {};
  }
  if (!S_ISREG(status.st_mode)) return "it is no file";
  if (status.st_size > static_cast<off_t>(kLargest)) return "it has more than 64 KiB";
  std::string why = why_not_trusted(status, false);
  if (!why.empty()) return why;
  if (::stat(directory_of(path).c_str(), &status) != 0) return std::strerror(errno);
  why = why_not_trusted(status, true);
  if (!why.empty()) return why;
  return read_descriptor(descriptor, text) ? "" : std::strerror(errno);
}

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
  std::string why;
  std::string text(kLargest, '\0');  // before the file is open: it may throw
  const int descriptor = open_to_read(path);
  if (descriptor < 0) {
    if (!must_exist && (errno == ENOENT || errno == ENOTDIR)) return file;
    why = std::strerror(errno);
  } else {
    why = take_trusted(descriptor, path, text);
    ::close(descriptor);
  }
  if (why.empty()) {
    file = parse_settings_file(text, path);
    if (file.suggests) {
      file.problems.push_back("tables [headrace] and [environment] of '" + printable(path) +
                              "' are ignored (only files of --settings suggest), move them to "
                              "such a file");
    }
    return file;
  }
  const std::string remedy = why.find("directory") == std::string::npos
                                 ? "give a file that you can read and others cannot write"
                                 : "let its owner type chmod go-w " + printable(directory_of(path));
  file.problems.push_back("'" + printable(path) + "' is ignored (" + why + "), " + remedy);
  return file;
}

}  // namespace headrace
