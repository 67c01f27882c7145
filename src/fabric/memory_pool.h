#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace::fabric {

/// First-fit allocation in a range of `size` bytes. Thread-safe. Only the node's leader allocates;
/// it tells the other ranks the offsets.
class MemoryPool {
 public:
  explicit MemoryPool(std::size_t size) : free_{{0, size}} {}

  std::optional<std::size_t> take(std::size_t size);
  /// Gives back what take() returned. Allocates no memory itself.
  void give_back(std::size_t offset, std::size_t size);

 private:
  struct Hole {
    std::size_t offset;
    std::size_t size;
  };

  std::mutex mutex_;
  std::size_t taken_ = 0;  ///< parts that are in use
  std::vector<Hole>
      free_;  ///< sorted by offset, never adjacent; has capacity for all that may come back
};

}  // namespace headrace::fabric
