#include "collectives/fitting.h"

#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "collectives/emulation.h"
#include "collectives/operation.h"

namespace headrace::bench::collectives {
namespace {

/// Of the memory that is available, in parts of ten.
constexpr std::int64_t kMostTenths = 9;

/// Bytes that processes of this node can get without swapping; the most there is if Linux does not
/// tell.
std::int64_t available_memory() {
  std::ifstream stream("/proc/meminfo");
  std::string name;
  for (std::int64_t kibibytes = 0; stream >> name >> kibibytes;) {
    if (name == "MemAvailable:") return kibibytes << 10;
    stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return INT64_MAX;
}

/// Counts and places of `blocks` blocks in elements, or in bytes where types are given for each.
bool fits_int(std::int64_t blocks, bool in_bytes, std::int64_t bytes) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(bytes, blocks, &all)) return false;
  return (in_bytes ? all : all / static_cast<std::int64_t>(sizeof(double))) <= INT32_MAX;
}

/// What the ranks of a node need together, at most.
std::int64_t needed_on_node(const World& world, std::int64_t mine) {
  std::int64_t most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, world.communicator);
  // A root may need more than all others.
  return std::min(sum(world, mine), most * world.largest_node);
}

std::string in_mebibytes(std::int64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

std::string obstacle(const World& world, std::string_view operation, std::string_view emulation,
                     std::int64_t bytes) {
  const bool in_bytes = operation == "alltoallw" || emulation == "alltoallw";
  const std::int64_t more = Emulation::room_of({operation, emulation}, world.size);
  const std::int64_t blocks = std::max(Cell::most_blocks(operation, world.size), more);
  if (!fits_int(blocks, in_bytes, bytes)) return "MPI's counts and places are ints";
  const std::int64_t needed =
      needed_on_node(world, Cell::memory_of(world, operation, bytes) + bytes * more);
  const std::int64_t mine = available_memory() / 10 * kMostTenths;
  std::int64_t available = 0;
  MPI_Allreduce(&mine, &available, 1, MPI_INT64_T, MPI_MIN, world.communicator);
  if (needed <= available) return {};
  return "a node needs " + in_mebibytes(needed) + " of memory, and " + in_mebibytes(available) +
         " are available";
}

}  // namespace headrace::bench::collectives
