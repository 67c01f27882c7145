#include "common/layout.h"

namespace headrace::bench {

void complete(const World& world, Layout& layout) {
  layout.bytes = byte_count(layout.file);
  if (layout.memory.empty()) layout.memory = {{0, layout.bytes, 0, 1}};
  layout.memory_size = std::max(layout.memory_size, end_of(layout.memory));
  layout.total_bytes = sum(world, layout.bytes);
  const std::int64_t end = end_of(layout.file);
  MPI_Allreduce(&end, &layout.file_size, 1, MPI_INT64_T, MPI_MAX, world.communicator);
}

Layout block_layout(const World& world, std::int64_t start, std::int64_t block, std::int64_t stride,
                    std::int64_t count) {
  MPI_Datatype one_block = MPI_DATATYPE_NULL;
  MPI_Datatype turn = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &one_block);
  MPI_Type_create_resized(one_block, 0, static_cast<MPI_Aint>(stride), &turn);
  MPI_Type_free(&one_block);
  Layout layout;
  layout.file = {{start, block, stride, count}};
  layout.file_type = Datatype::commit(turn);
  layout.start = start;
  complete(world, layout);
  return layout;
}

Layout contiguous_layout(const World& world, const Layout& other) {
  std::int64_t start = 0;
  MPI_Exscan(&other.bytes, &start, 1, MPI_INT64_T, MPI_SUM, world.communicator);
  if (world.rank == 0) start = 0;  // MPI leaves it undefined there
  Layout layout;
  layout.file = {{start, other.bytes, 0, 1}};
  layout.memory_size = other.memory_size;
  layout.start = start;
  layout.file_type = Datatype::predefined(MPI_BYTE);
  complete(world, layout);
  return layout;
}

}  // namespace headrace::bench
