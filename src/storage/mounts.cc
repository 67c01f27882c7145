#include "storage/mounts.h"

#include <sys/sysmacros.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace headrace::storage {
namespace {

/// The text up to the next `separator`, which is cut off with it.
std::string_view take(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return word;
}

}  // namespace

std::optional<std::int64_t> Mount::number(std::string_view name) const {
  for (std::string_view rest = options; !rest.empty();) {
    std::string_view option = take(rest, ',');
    if (take(option, '=') != name) continue;
    std::int64_t value = 0;
    const auto read = std::from_chars(option.data(), option.data() + option.size(), value);
    if (read.ec == std::errc{} && read.ptr == option.data() + option.size()) return value;
  }
  return std::nullopt;
}

// "36 35 98:0 /root /mount rw,noatime master:1 - ext3 /dev/root rw,errors=continue": the number of
// fields before the hyphen varies (proc(5)).
std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor) {
  const std::string device = std::to_string(major) + ":" + std::to_string(minor);
  while (!mountinfo.empty()) {
    std::string_view line = take(mountinfo, '\n');
    take(line, ' ');
    take(line, ' ');
    if (take(line, ' ') != device) continue;
    const auto hyphen = line.find(" - ");
    if (hyphen == std::string_view::npos) continue;
    line.remove_prefix(hyphen + 3);
    Mount mount;
    mount.type = take(line, ' ');
    take(line, ' ');
    mount.options = take(line, ' ');
    return mount;
  }
  return std::nullopt;
}

std::optional<Mount> mount_of(std::uint64_t device) {
  std::ifstream file("/proc/self/mountinfo");
  std::ostringstream text;
  text << file.rdbuf();
  return find_mount(text.str(), gnu_dev_major(device), gnu_dev_minor(device));
}

}  // namespace headrace::storage
