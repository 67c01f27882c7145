#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fabric/memory_layout.h"
#include "fabric/memory_pool.h"
#include "fabric/shared_memory.h"

namespace headrace::fabric {

/// A part of the memory that the ranks of a node share.
struct MemoryRange {
  std::byte* base = nullptr;
  std::int64_t offset = -1;  ///< in the node's shared memory: what other ranks need to find it
  std::size_t size = 0;      ///< bytes
};

/// Memory that a node's leader reserves for its ranks, from one budget for all teams that it leads
/// on the node (HEADRACE_NODE_MEMORY). Where ranks share memory it is shared; a rank that is alone
/// on one of several nodes gets memory of its own.
class NodeMemory {
 public:
  /// `shared`, if any, must outlive it. `is_used`: false where nothing is ever reserved.
  NodeMemory(SharedMemory* shared, const MemoryLayout& layout, bool is_used);

  /// The leader's call, from any thread: whole pages, or nothing where none are left.
  std::optional<MemoryRange> reserve(std::size_t size);
  /// The same memory as the leader's `offset` names it.
  MemoryRange at(std::int64_t offset, std::size_t size) const;
  /// The leader's call, when nobody uses it any more.
  void give_back(const MemoryRange& range);

 private:
  std::optional<MemoryRange> get(std::size_t place, std::size_t size);

  SharedMemory* shared_;
  std::size_t begin_;  ///< of what may be reserved
  bool is_used_;
  MemoryPool pool_;
};

}  // namespace headrace::fabric
