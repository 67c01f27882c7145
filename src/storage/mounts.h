#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::storage {

/// A line of /proc/self/mountinfo, as far as it is of use.
struct Mount {
  std::string point;    ///< where it is mounted
  std::string type;     ///< such as "nfs4", "fuse.glusterfs"
  std::string options;  ///< of the file system: "rw,vers=4.2,wsize=1048576"

  /// The number that option `name` has, if any.
  std::optional<std::int64_t> number(std::string_view name) const;
};

/// The mount with device number major:minor in a text of proc(5)'s form.
std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor);

/// The mount of a device number as stat(2) gives it.
std::optional<Mount> mount_of(std::uint64_t device);

}  // namespace headrace::storage
