#include "common/window_read.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace headrace::bench {
namespace {

constexpr std::int64_t window_size = 1 << 20;

}  // namespace

std::string read_by_windows(PosixFile& file, std::int64_t file_size, const Layout& layout,
                            std::int64_t displacement, std::byte* memory) {
  std::vector<std::byte> window(window_size);
  std::int64_t begin = 0;
  std::int64_t end = 0;
  PieceCursor pieces(layout.file, layout.memory);
  for (Piece piece = pieces.next(INT64_MAX, window_size); piece.length > 0;
       piece = pieces.next(INT64_MAX, window_size)) {
    const std::int64_t offset = displacement + piece.file_offset;
    if (offset + piece.length > end) {
      begin = offset;
      end = std::max(std::min(begin + window_size, file_size), begin + piece.length);
      const std::size_t length = static_cast<std::size_t>(end - begin);
      const std::string error = file.read_at(begin, window.data(), length);
      if (!error.empty()) return error;
    }
    std::memcpy(memory + piece.memory_offset, window.data() + (offset - begin),
                static_cast<std::size_t>(piece.length));
  }
  return {};
}

}  // namespace headrace::bench
