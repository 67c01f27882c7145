#include "collective/call.h"

namespace headrace::collective {

std::size_t bytes_of_places(const Blocks& blocks, const Shape& shape, int begin, int end) {
  if (blocks.are_alike()) return blocks.size * static_cast<std::size_t>(end - begin);
  std::size_t bytes = 0;
  for (int place = begin; place < end; ++place) bytes += blocks.size_of(shape.rank_at(place));
  return bytes;
}

}  // namespace headrace::collective
