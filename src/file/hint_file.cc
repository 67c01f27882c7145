#include "file/hint_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/kept_errno.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "base/uninterrupted.h"

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

/// The file's text; nothing, and errno, if it cannot be read.
std::optional<std::string> text_of(const std::string& path) {
  // Does not wait for a writer if the name is a pipe's.
  const int descriptor =
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); });
  if (descriptor < 0) return std::nullopt;
  std::string text(kLargest, '\0');
  std::size_t size = 0;
  ssize_t more = 0;
  do {
    more = uninterrupted([&] { return ::read(descriptor, text.data() + size, kLargest - size); });
    if (more > 0) size += static_cast<std::size_t>(more);
  } while (more > 0 && size < kLargest);
  const KeptErrno kept;
  ::close(descriptor);
  if (more < 0) return std::nullopt;
  text.resize(size);
  return text;
}

}  // namespace

HintFile parse_hint_file(std::string_view text, std::string_view path) {
  HintFile file;
  int ignored = 0;
  int first_ignored = 0;
  text = text.substr(0, text.find('\0'));
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
    file.hints.emplace(name, value);
  }
  if (ignored > 0) {
    file.problem = "line " + std::to_string(first_ignored) + " of '" + printable(path) + "'" +
                   (ignored > 1 ? " and " + std::to_string(ignored - 1) + " more" : "") +
                   " is ignored (a hint is one name and one value), write NAME VALUE";
  }
  return file;
}

HintFile read_hint_file(const std::string& path, bool must_exist) {
  if (const auto text = text_of(path)) return parse_hint_file(*text, path);
  HintFile file;
  if (errno != ENOENT || must_exist) {
    file.problem = "'" + printable(path) + "' gives no hints (" + std::strerror(errno) +
                   "), let HEADRACE_HINTS_FILE or ROMIO_HINTS name a file that can be read";
  }
  return file;
}

const HintFile& hint_file() {
  // Never destroyed: usable during exit.
  static const auto* const read = [] {
    const std::string& path = settings().hints_file;
    return new HintFile(read_hint_file(path, path != Settings().hints_file));
  }();
  return *read;
}

}  // namespace headrace::file
