#include "fabric/memory_pool.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace headrace::fabric {

std::optional<std::size_t> MemoryPool::take(std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto hole = std::ranges::find_if(free_, [&](const Hole& one) { return one.size >= size; });
  if (hole == free_.end()) return std::nullopt;
  const std::size_t offset = hole->offset;
  const std::ptrdiff_t place = hole - free_.begin();
  try {
    free_.reserve(taken_ + 3);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
  taken_ += 1;
  Hole& rest = free_[static_cast<std::size_t>(place)];
  rest = {offset + size, rest.size - size};
  if (rest.size == 0) free_.erase(free_.begin() + place);
  return offset;
}

void MemoryPool::give_back(std::size_t offset, std::size_t size) {
  const std::lock_guard lock(mutex_);
  taken_ -= 1;
  auto hole =
      free_.insert(std::ranges::lower_bound(free_, offset, {}, &Hole::offset), Hole{offset, size});
  if (hole != free_.begin()) {
    const auto before = std::prev(hole);
    if (before->offset + before->size == offset) {
      before->size += size;
      hole = std::prev(free_.erase(hole));
    }
  }
  const auto after = std::next(hole);
  if (after != free_.end() && hole->offset + hole->size == after->offset) {
    hole->size += after->size;
    free_.erase(after);
  }
}

}  // namespace headrace::fabric
