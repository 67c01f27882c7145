#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace headrace::storage {

/// What a GlusterFS client tells about its mounted volume.
struct GlusterVolume {
  /// The client caches neither data nor attributes, so that nodes see each other's writes at once.
  bool is_coherent = false;
  /// Bricks hold copies or parts of the same bytes: a node that writes a file locks the whole file.
  bool locks_whole_files = false;
  ByteCount shard = 0;  ///< bytes after which a file continues in another one; 0: it is one file

  bool operator==(const GlusterVolume&) const = default;
};

/// Reads a volume file ("volume ... type ... option ... end-volume") and the client's command line.
GlusterVolume parse_gluster_volume(std::string_view volume_file, std::string_view command_line);

/// What the client at a mount point tells below `.meta`, without asking a server; nothing if there
/// is none.
std::optional<GlusterVolume> gluster_volume(const std::string& mount_point);

}  // namespace headrace::storage
