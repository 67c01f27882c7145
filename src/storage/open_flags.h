#pragma once

#include <optional>

#include "storage/file_layout.h"

namespace headrace::storage {

/// As chmod(2) takes them: 0640 for example.
using Permissions = unsigned;

/// How a file will be read, as far as it makes a difference (posix_fadvise(2)).
enum class Style { usual, sequential, random };

/// How to open: MPI's access mode without its numbers.
struct OpenFlags {
  bool read = false;
  bool write = false;
  bool create = false;
  bool exclusive = false;
  bool is_deleted_later = false;                ///< by Store::remove()
  StripingHints striping = {};                  ///< for a file that is created
  std::optional<Permissions> permissions = {};  ///< for a file that is created; none: by the umask
  Style style = Style::usual;
  bool is_direct = false;  ///< past the page cache where possible (DirectIo)
};

}  // namespace headrace::storage
