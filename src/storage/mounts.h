#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headrace::storage {

/// The mounts that this process sees.
inline constexpr const char* kMountInfo = "/proc/self/mountinfo";

/// What we need of a line of /proc/self/mountinfo.
struct Mount {
  std::string point;    ///< where it is mounted
  std::string type;     ///< such as "nfs4", "fuse.glusterfs"
  std::string options;  ///< of the file system: "rw,vers=4.2,wsize=1048576"

  /// The value of option `name`, "" if it is a word alone; nothing if it is not there.
  std::optional<std::string_view> text(std::string_view name) const;
  /// The number of option `name`, if it has one.
  std::optional<std::int64_t> number(std::string_view name) const;
};

/// What next_mount_line() finds, as it stands there.
struct MountLine {
  std::string_view point;  ///< with escapes, see unescape()
  std::string_view type;
  std::string_view options;
};

/// The next mount with device number major:minor in the rest of a text in the format of
/// /proc/self/mountinfo (proc(5)); takes it, and what is before it, from the text. Takes no memory.
std::optional<MountLine> next_mount_line(std::string_view& mountinfo, unsigned major,
                                         unsigned minor) noexcept;

/// Replaces escapes such as "\040" for blanks and backslashes, in place.
std::string_view unescape(std::span<char> text) noexcept;

/// The first such mount, in texts of its own.
std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor);

/// The first mount of a device number from stat(2).
std::optional<Mount> mount_of(std::uint64_t device);

}  // namespace headrace::storage
