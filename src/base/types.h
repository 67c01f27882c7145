#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// A position in a file, in bytes from its beginning.
using FileOffset = std::int64_t;

/// A number of bytes. Signed, as MPI_Count is, so that differences are safe.
using ByteCount = std::int64_t;

/// How many objects (OSTs, say) a file is striped over, and the bytes of one stripe; 0 if unknown.
struct Stripes {
  ByteCount size = 0;
  std::int64_t count = 0;

  bool operator==(const Stripes&) const = default;
};

enum class Direction { read, write };

}  // namespace headrace
