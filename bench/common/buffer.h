#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::bench {

/// Memory of a benchmark, zeroed. Kernels copy slower to some places of a page than to others
/// (docs/measurements/copy-kernels.md), so what is compared must lie alike: at the beginning of a
/// page, or where malloc puts it, as programs have it.
class Buffer {
 public:
  enum class Place { page, malloc };

  /// Throws std::bad_alloc or std::length_error.
  Buffer(std::size_t size, Place place);

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> memory_;
  std::span<std::byte> bytes_;
};

/// A rank's buffer of `size` bytes; all ranks throw AgreedFailure where one has not the memory.
/// Collective.
Buffer make_buffer(MPI_Comm communicator, std::int64_t size, Buffer::Place place);

}  // namespace headrace::bench
