#include "file/hint_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/small_file.h"
#include "base/spelling.h"

namespace headrace::file {
namespace {

/// The most that is read. ROMIO reads 4 KiB.
constexpr std::size_t kLargest = std::size_t{1} << 16;

std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

/// Removes the first word of `rest`, with the blanks around it, and returns it.
std::string_view take_word(std::string_view& rest) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto skip_blanks = [&] {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  };
  skip_blanks();
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  skip_blanks();
  return word;
}

/// ROMIO's: of several lines for one hint the first counts.
HintFile parse_lines(std::string_view text, const std::string& path) {
  PatternHints all;
  int ignored = 0;
  int first_ignored = 0;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    if (line.starts_with('#')) continue;
    const std::string_view name = take_word(line);
    const std::string_view value = take_word(line);
    if (name.empty()) continue;
    if (value.empty() || !line.empty()) {
      if (ignored++ == 0) first_ignored = number;
      continue;
    }
    all.hints.emplace(name, value);
  }
  HintFile file;
  if (!all.hints.empty()) file.hints.push_back(std::move(all));
  if (ignored > 0) {
    const bool has_more = ignored > 1;
    file.problems.push_back(
        "line " + std::to_string(first_ignored) +
        (has_more ? " and " + std::to_string(ignored - 1) + " more line" + (ignored > 2 ? "s" : "")
                  : "") +
        " of '" + printable(path) + (has_more ? "' are" : "' is") +
        " ignored (a hint is one name and one value), write NAME VALUE");
  }
  return file;
}

HintFile parse_tables(std::string_view text, const std::string& path) {
  SettingsFile read = parse_settings_file(text, path);
  HintFile file{std::move(read.hints), {}, std::move(read.problems)};
  for (auto& [name, value] : read.settings) file.settings.push_back(std::move(name));
  return file;
}

}  // namespace

bool is_toml(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos && line[begin] != '#') return line[begin] == '[';
  }
  return false;
}

HintFile parse_hint_file(std::string_view text, const std::string& path) {
  text = text.substr(0, text.find('\0'));
  return is_toml(text) ? parse_tables(text, path) : parse_lines(text, path);
}

HintFile read_hint_file(const std::string& path, bool must_exist) {
  std::string text;
  HintFile file;
  if (read_text_file(path, kLargest + 1, text)) {
    if (text.size() <= kLargest) return parse_hint_file(text, path);
    file.problems.push_back("'" + printable(path) +
                            "' gives no hints (it has more than 64 KiB), give a shorter file");
    return file;
  }
  if (errno != ENOENT || must_exist) {
    file.problems.push_back("'" + printable(path) + "' gives no hints (" + std::strerror(errno) +
                            "), let HEADRACE_HINTS_FILE or ROMIO_HINTS name a file that can be "
                            "read");
  }
  return file;
}

}  // namespace headrace::file
