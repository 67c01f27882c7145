#include "storage/mounts.h"

#include <sys/sysmacros.h>

#include <charconv>
#include <utility>

#include "base/plain_text.h"
#include "storage/mapped_text.h"
#include "storage/text.h"

namespace headrace::storage {
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

std::string_view unescape(std::span<char> text) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      text[size++] = static_cast<char>(code);
      i += 3;
    } else {
      text[size++] = text[i];
    }
  }
  return {text.data(), size};
}

// "36 35 98:0 /root /mount rw,noatime master:1 - ext3 /dev/root rw,errors=continue": the number of
// fields before the hyphen varies (proc(5)).
std::optional<MountLine> next_mount_line(std::string_view& mountinfo, unsigned major,
                                         unsigned minor) noexcept {
  PlainText<32> device;
  device.add_number(major).add(":").add_number(minor);
  while (!mountinfo.empty()) {
    std::string_view line = take_until(mountinfo, '\n');
    take_until(line, ' ');
    take_until(line, ' ');
    if (take_until(line, ' ') != device.text()) continue;
    MountLine mount;
    take_until(line, ' ');
    mount.point = take_until(line, ' ');
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

std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor) {
  const std::optional<MountLine> line = next_mount_line(mountinfo, major, minor);
  if (!line) return std::nullopt;
  std::string point(line->point);
  point.resize(unescape(point).size());
  return Mount{std::move(point), std::string(line->type), std::string(line->options)};
}

std::optional<Mount> mount_of(std::uint64_t device) {
  const MappedText mounts(kMountInfo);
  return find_mount(mounts.text(), gnu_dev_major(device), gnu_dev_minor(device));
}

}  // namespace headrace::storage
