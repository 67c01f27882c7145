#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// A position in a file, in bytes from its beginning.
using FileOffset = std::int64_t;

/// A number of bytes. Signed, as MPI_Count is, so that differences are safe.
using ByteCount = std::int64_t;

enum class Direction { read, write };

}  // namespace headrace
