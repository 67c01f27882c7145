#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fabric/memory_layout.h"
#include "fabric/memory_pool.h"
#include "fabric/shared_memory.h"

namespace headrace::fabric {

/// A part of a node's shared memory.
struct MemoryRange {
  std::byte* base = nullptr;
  std::int64_t offset = -1;  ///< in the node's shared memory: what other ranks need to find it
  std::size_t size = 0;      ///< bytes
};

/// Memory that a node's leader reserves for the node's ranks. All teams that it leads share one
/// budget (HEADRACE_NODE_MEMORY). The memory is shared if the ranks share memory; a rank that is
/// alone on one of several nodes gets memory of its own.
class NodeMemory {
 public:
  /// `shared` may be null, and must outlive this. `is_used`: false if nothing is ever reserved.
  NodeMemory(SharedMemory* shared, const MemoryLayout& layout, bool is_used);

  /// Called by the leader, from any thread: reserves `size` bytes, a multiple of a page; nothing if
  /// the budget or the memory is exhausted.
  std::optional<MemoryRange> reserve(std::size_t size);
  /// The range at the `offset` that the leader told.
  MemoryRange at(std::int64_t offset, std::size_t size) const;
  /// Called by the leader when no rank uses the range any more.
  void give_back(const MemoryRange& range);

 private:
  std::optional<MemoryRange> get(std::size_t place, std::size_t size);

  SharedMemory* shared_;
  std::size_t begin_;  ///< offset of the reservable memory
  bool is_used_;
  MemoryPool pool_;
};

}  // namespace headrace::fabric
