#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tune/figure.h"
#include "tune/page_cache.h"

namespace headrace::bench::tune {

/// The file that is measured with, and the ranks of one node.
struct Place {
  MPI_Comm node = MPI_COMM_NULL;
  int rank = 0;  ///< in `node`
  int size = 1;
  std::string file;
  std::string directory;
  std::span<std::byte> cold;   ///< memory, more than a core's caches hold
  PageCache* cache = nullptr;  ///< of the file, on this node
};

/// Bytes of Place::cold.
inline constexpr std::int64_t kColdBytes = std::int64_t{32} << 20;

/// Tasks of the first rank alone: requests of several sizes, aligned or not, from memory that is
/// in the CPU's caches or not; pieces that are read together; copies; metadata. Their figures go to
/// `figures` of the first rank. `place` and `figures` must outlive the tasks.
void add_request_tasks(const Place& place, std::vector<Figure>& figures, std::vector<Task>& tasks);

/// Tasks of several ranks that each make requests of their own, on one file.
void add_together_tasks(const Place& place, std::vector<Figure>& figures, std::vector<Task>& tasks);

}  // namespace headrace::bench::tune
