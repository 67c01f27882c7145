#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/layout.h"
#include "common/posix_io.h"

namespace headrace::bench {

/// Reads a rank's pieces, the layout's first byte at `displacement`, into `memory`: large windows
/// of the file, which holds `file_size` bytes, from which pieces are copied. What a check takes
/// depends little on how small they are. Returns an empty text or the reason of a failure.
std::string read_by_windows(PosixFile& file, std::int64_t file_size, const Layout& layout,
                            std::int64_t displacement, std::byte* memory);

}  // namespace headrace::bench
