#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace headrace::exchange {

/// First-fit allocation in a range of `size` bytes. Thread-safe. Only the node's
/// leader allocates; it tells the others the offsets.
class SlotPool {
 public:
  explicit SlotPool(std::size_t size) { free_[0] = size; }

  std::optional<std::size_t> take(std::size_t size);
  void give_back(std::size_t offset, std::size_t size);

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;  ///< offset -> size, never adjacent
};

}  // namespace headrace::exchange
