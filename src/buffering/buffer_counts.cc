#include "buffering/buffer_counts.h"

#include "base/spelling.h"

namespace headrace::buffering {
namespace {

constexpr std::size_t kLongestName = 4096;

}  // namespace

void BufferCounts::combine(const BufferCounts& other) {
  writes += other.writes;
  reads += other.reads;
  large += other.large;
  blocks_written += other.blocks_written;
  blocks_read += other.blocks_read;
  ahead += other.ahead;
  ahead_used += other.ahead_used;
  single_reads += other.single_reads;
}

std::vector<std::string> lines_of(const std::string& path, const BufferCounts& counts) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  return {"buffers of '" + printable(path, kLongestName) + "':",
          "  writes: " + number(counts.writes) + " calls, written as " +
              number(counts.blocks_written) + " ranges",
          "  reads: " + number(counts.reads) + " calls, of " + number(counts.blocks_read) +
              " blocks; " + number(counts.ahead) + " of them were read ahead, and " +
              number(counts.ahead_used) + " of those asked for",
          "  without buffers: " + number(counts.single_reads) +
              " reads that were not sequential, " + number(counts.large) +
              " calls as large as a block"};
}

}  // namespace headrace::buffering
