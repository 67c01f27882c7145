// Views at the edge of what is allowed: nothing in them, blocks of no length, bounds set twice,
// arrays of arrays, pieces that overlap.
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "view_check.h"

static Layout byte(void) {
  return layout_basic(MPI_BYTE, 1);
}

// Every second rank sees nothing, through a filetype of no size but with an extent.
static View empty(int rank, int size) {
  Layout etype = layout_basic(MPI_INT, 4);
  const int lengths[] = {0, 0}, displacements[] = {1, 3};
  Layout nothing = layout_resized(layout_indexed(2, lengths, displacements, etype), 0, 20);
  return interleave(etype, rank % 2 ? layout_contiguous(5, etype) : nothing, rank, size);
}

static View zero_blocks(int rank, int size) {
  Layout etype = byte();
  const int lengths[] = {0, 3, 0, 0, 2, 0}, displacements[] = {0, 1, 4, 5, 9, 12};
  Layout inner = layout_resized(layout_indexed(6, lengths, displacements, etype), 0, 13);
  Layout members[] = {inner, etype, inner};
  const int counts[] = {1, 0, 2};
  const int64_t places[] = {0, 13, 15};
  return interleave(etype, layout_resized(layout_struct(3, counts, places, members), 0, 45), rank,
                    size);
}

static View resized_twice(int rank, int size) {
  Layout etype = layout_basic(MPI_SHORT, 2);
  Layout inner = layout_resized(layout_resized(layout_vector(2, 1, 3, etype), -6, 30), 0, 14);
  Layout outer = layout_resized(layout_resized(layout_contiguous(3, inner), -2, 90), 0, 44);
  return interleave(etype, outer, rank, size);
}

// Elements of the distributed array are parts of small arrays.
static View darray_of_subarray(int rank, int size) {
  const int sizes[] = {3, 4}, subsizes[] = {2, 3}, starts[] = {1, 0};
  Layout element = layout_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, byte());
  const int array[] = {5 * size}, kind[] = {MPI_DISTRIBUTE_CYCLIC}, argument[] = {2};
  const int grid[] = {size};
  return (View){byte(),
                layout_darray(size, rank, 1, array, kind, argument, grid, MPI_ORDER_C, element), 5};
}

static View subarray_of_darray(int rank, int size) {
  const int array[] = {3 * size, 4}, grid[] = {size, 1};
  const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  Layout inner =
      layout_darray(size, rank, 2, array, kinds, arguments, grid, MPI_ORDER_FORTRAN, byte());
  const int sizes[] = {5}, subsizes[] = {3}, starts[] = {1};
  return (View){byte(), layout_subarray(1, sizes, subsizes, starts, MPI_ORDER_C, inner), 0};
}

// A read sees the same bytes twice where the pieces of its view overlap.
static void overlapping_read(Context* context) {
  enum { file_bytes = 600 };
  unsigned char content[file_bytes], seen[60];
  fill_pattern(content, file_bytes, 50, 0);
  if (context->rank == 0) {
    MPI_File file = open_file(context, MPI_COMM_SELF, "data", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    CHECK_OK(context, MPI_File_write(file, content, file_bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    close_file(context, &file);
  }
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  const int displacements[] = {0, 3, 4, 20};
  Layout filetype = layout_resized(layout_indexed_block(4, 5, displacements, byte()), 0, 22);
  CHECK_OK(context, MPI_File_set_view(file, 7 * context->rank, MPI_BYTE, filetype.type, "native",
                                      MPI_INFO_NULL));
  const int methods[] = {PLAIN,         AT, ALL, AT_ALL, AT | NONBLOCKING, AT_ALL | NONBLOCKING,
                         AT_ALL | SPLIT};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    memset(seen, 0, sizeof seen);
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(context,
             transfer(file, 0, methods[i], 0, 0, seen, sizeof seen, MPI_BYTE, MPI_STATUS_IGNORE));
    for (size_t k = 0; k < sizeof seen; k++) {
      int64_t place = layout_place(&filetype, 7 * context->rank, (int64_t)k);
      if (seen[k] == content[place]) continue;
      fail(context, __FILE__, __LINE__, "%s: byte %zu is not that at %lld", method_name(methods[i]),
           k, (long long)place);
      break;
    }
  }
  layouts_release();
  close_file(context, &file);
}

// Through a view without bytes nothing can be asked for, and nothing hangs.
static void nothing_to_see(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype none;
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&none);
  CHECK_OK(context, MPI_File_set_view(file, 12, MPI_INT, none, "native", MPI_INFO_NULL));
  MPI_Type_free(&none);
  for (int method = 0; method < METHOD_COUNT; method++) {
    MPI_Status status;
    int value = 4, count = -1;
    CHECK_OK(context, transfer(file, 1, method, 0, 0, &value, 0, MPI_INT, &status));
    CHECK_OK(context, transfer(file, 0, method, 0, 0, &value, 0, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(context, count, 0);
    CHECK_EQUAL(context, value, 4);
  }
  MPI_Offset size = -1;
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 0);
  close_file(context, &file);
}

#define EDGE_CASE(build)                      \
  static void run_##build(Context* context) { \
    run_view(context, build);                 \
  }
EDGE_CASE(empty)
EDGE_CASE(zero_blocks)
EDGE_CASE(resized_twice)
EDGE_CASE(darray_of_subarray)
EDGE_CASE(subarray_of_darray)

const Case edge_cases[] = {{"edge_empty_view", run_empty},
                           {"edge_zero_blocks", run_zero_blocks},
                           {"edge_resized_twice", run_resized_twice},
                           {"edge_darray_of_subarray", run_darray_of_subarray},
                           {"edge_subarray_of_darray", run_subarray_of_darray},
                           {"edge_overlapping_read", overlapping_read},
                           {"edge_nothing_to_see", nothing_to_see},
                           {NULL, NULL}};
