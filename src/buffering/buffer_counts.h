#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::buffering {

/// What the buffers of a file did.
struct BufferCounts {
  std::int64_t writes = 0;  ///< calls that went to a block
  std::int64_t reads = 0;
  std::int64_t large = 0;  ///< calls of a block's size or more, which go to the store
  std::int64_t blocks_written = 0;
  std::int64_t blocks_read = 0;
  std::int64_t ahead = 0;         ///< of these, read ahead
  std::int64_t ahead_used = 0;    ///< of these, asked for later
  std::int64_t single_reads = 0;  ///< calls that went to the store, since they were not sequential

  /// Adds what another rank counted.
  void combine(const BufferCounts& other);
};

/// For people: the lines that `verbose` in HEADRACE_IOBUF prints of a file.
std::vector<std::string> lines_of(const std::string& path, const BufferCounts& counts);

}  // namespace headrace::buffering
