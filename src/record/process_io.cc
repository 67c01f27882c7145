#include "record/process_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "base/kept_errno.h"
#include "base/no_cancellation.h"

namespace headrace::record {
namespace {

/// The number behind a name that begins a line; -1 if there is none.
std::int64_t number_of(std::string_view lines, std::string_view name) {
  for (std::size_t at = lines.find(name); at != lines.npos; at = lines.find(name, at + 1)) {
    if (at != 0 && lines[at - 1] != '\n') continue;
    const std::string_view rest = lines.substr(at + name.size());
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return error == std::errc() && value >= 0 ? value : -1;
  }
  return -1;
}

}  // namespace

ProcessIo process_io() noexcept {
  const KeptErrno kept;
  const NoCancellation uncancelled;
  std::array<char, 512> text{};
  const int file = ::open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? -1 : ::read(file, text.data(), text.size());
  if (file >= 0) ::close(file);
  const std::string_view lines(text.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  return {number_of(lines, "rchar: "), number_of(lines, "wchar: "),
          number_of(lines, "read_bytes: "), number_of(lines, "write_bytes: ")};
}

}  // namespace headrace::record
