#include "exchange/slot_pool.h"

#include <iterator>

namespace headrace::exchange {

std::optional<std::size_t> SlotPool::take(std::size_t size) {
  const std::lock_guard lock(mutex_);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->second < size) continue;
    const auto [offset, space] = *hole;
    free_.erase(hole);
    if (space > size) free_[offset + size] = space - size;
    return offset;
  }
  return std::nullopt;
}

void SlotPool::give_back(std::size_t offset, std::size_t size) {
  const std::lock_guard lock(mutex_);
  auto hole = free_.emplace(offset, size).first;
  if (hole != free_.begin()) {
    const auto before = std::prev(hole);
    if (before->first + before->second == offset) {
      before->second += size;
      free_.erase(hole);
      hole = before;
    }
  }
  const auto after = std::next(hole);
  if (after != free_.end() && hole->first + hole->second == after->first) {
    hole->second += after->second;
    free_.erase(after);
  }
}

}  // namespace headrace::exchange
