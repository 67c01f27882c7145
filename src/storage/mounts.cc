#include "storage/mounts.h"

#include <sys/sysmacros.h>

#include <charconv>

#include "storage/text.h"

namespace headrace::storage {
namespace {

/// Replaces escapes such as "\040" for blanks and backslashes.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::optional<std::string_view> Mount::text(std::string_view name) const {
  for (std::string_view rest = options; !rest.empty();) {
    std::string_view option = take_until(rest, ',');
    if (take_until(option, '=') == name) return option;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Mount::number(std::string_view name) const {
  const std::string_view digits = text(name).value_or("");
  std::int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// "36 35 98:0 /root /mount rw,noatime master:1 - ext3 /dev/root rw,errors=continue": the number of
// fields before the hyphen varies (proc(5)).
std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor) {
  const std::string device = std::to_string(major) + ":" + std::to_string(minor);
  while (!mountinfo.empty()) {
    std::string_view line = take_until(mountinfo, '\n');
    take_until(line, ' ');
    take_until(line, ' ');
    if (take_until(line, ' ') != device) continue;
    Mount mount;
    take_until(line, ' ');
    mount.point = without_escapes(take_until(line, ' '));
    const auto hyphen = line.find(" - ");
    if (hyphen == std::string_view::npos) continue;
    line.remove_prefix(hyphen + 3);
    mount.type = take_until(line, ' ');
    take_until(line, ' ');
    mount.options = take_until(line, ' ');
    return mount;
  }
  return std::nullopt;
}

std::optional<Mount> mount_of(std::uint64_t device) {
  return find_mount(text_of("/proc/self/mountinfo").value_or(""), gnu_dev_major(device),
                    gnu_dev_minor(device));
}

}  // namespace headrace::storage
