#pragma once

#include <cstddef>
#include <span>

#include "collective/operation.h"
#include "collective/shape.h"

namespace headrace::collective {

/// The blocks of a buffer, one for each rank, in bytes.
struct Blocks {
  // Where they are all alike:
  std::size_t size = 0;
  std::size_t distance = 0;  ///< more than `size` where a part of each is moved
  // Else of each rank's:
  std::span<const std::size_t> sizes;
  std::span<const std::ptrdiff_t> offsets;  ///< where it begins

  bool are_alike() const { return sizes.empty(); }
  std::size_t size_of(int rank) const {
    return are_alike() ? size : sizes[static_cast<std::size_t>(rank)];
  }
  std::ptrdiff_t offset_of(int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return are_alike() ? static_cast<std::ptrdiff_t>(index * distance) : offsets[index];
  }
};

/// What is to be done, in bytes: what all ranks know alike.
struct Call {
  Operation operation = Operation::barrier;
  /// bcast, reduce, allreduce: of the data; allgather, alltoall, reduce_scatter_block, gather,
  /// scatter: of one rank's block; allgatherv, reduce_scatter: of all blocks; else 0, since no rank
  /// knows what others move (has_common_size()).
  std::size_t bytes = 0;
  int root = 0;             ///< bcast, reduce, gather(v), scatter(v): a rank
  std::size_t element = 1;  ///< reductions: bytes of what is reduced as one
  /// allgather(v): of the receive buffer; alltoall: of both; reduce_scatter(_block): to be sent.
  Blocks blocks{};
};

struct Limits {
  /// Bytes of the memory that a node's ranks share for one call at a time; on all nodes the same.
  std::size_t stage = 0;
  /// alltoallv, alltoallw: messages that a rank may send at a time, and receive. Need not be the
  /// same on all ranks.
  int throttle = 1;
};

/// Of blocks that are alike or not: bytes of those of places [begin, end).
std::size_t bytes_of_places(const Blocks& blocks, const Shape& shape, int begin, int end);

}  // namespace headrace::collective
