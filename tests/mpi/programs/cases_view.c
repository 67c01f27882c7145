// Views: one case per kind of filetype. The file is filled first; each rank then writes its part of
// it by four calls and reads it back by four others; rank 0 compares the whole file with what the
// type maps say, so the bytes between the pieces are checked too.
#include "exercise.h"
#include "view_check.h"

static Layout four_bytes(void) {
  return layout_basic(MPI_INT, 4);
}

static View contiguous(int rank, int size) {
  Layout etype = four_bytes();
  return interleave(etype, layout_contiguous(5, etype), rank, size);
}

static View vector(int rank, int size) {
  Layout etype = layout_basic(MPI_DOUBLE, 8);
  Layout type = layout_vector(4, 2, 2 * size, etype);
  return (View){etype, layout_resized(type, 0, 4 * 2 * size * 8), rank * 16};
}

static View hvector(int rank, int size) {
  Layout etype = layout_basic(MPI_BYTE, 1);
  Layout type = layout_hvector(5, 7, 7 * size, etype);
  return (View){etype, layout_resized(type, 0, 5 * 7 * size), 13 + rank * 7};
}

static View indexed(int rank, int size) {
  Layout etype = four_bytes();
  const int lengths[] = {2, 0, 3, 1}, displacements[] = {0, 2, 4, 9};
  return interleave(etype, layout_indexed(4, lengths, displacements, etype), rank, size);
}

static View hindexed(int rank, int size) {
  Layout etype = layout_basic(MPI_BYTE, 1);
  const int lengths[] = {3, 1, 11, 2};
  const int64_t displacements[] = {1, 7, 8, 40};
  return interleave(etype, layout_resized(layout_hindexed(4, lengths, displacements, etype), 0, 43),
                    rank, size);
}

static View indexed_block(int rank, int size) {
  Layout etype = layout_basic(MPI_SHORT, 2);
  const int displacements[] = {0, 3, 5, 8};
  return interleave(etype, layout_indexed_block(4, 2, displacements, etype), rank, size);
}

static View hindexed_block(int rank, int size) {
  Layout etype = four_bytes();
  const int64_t displacements[] = {0, 20, 44};
  return interleave(etype, layout_hindexed_block(3, 3, displacements, etype), rank, size);
}

static View structure(int rank, int size) {
  Layout etype = layout_basic(MPI_BYTE, 1);
  Layout members[] = {etype, layout_vector(2, 3, 5, etype), layout_contiguous(4, etype)};
  const int lengths[] = {2, 2, 1};
  const int64_t displacements[] = {0, 4, 30};
  Layout type = layout_struct(3, lengths, displacements, members);
  return interleave(etype, layout_resized(type, 0, 40), rank, size);
}

// A member with bounds of its own takes the say from those without.
static View structure_marked(int rank, int size) {
  Layout etype = four_bytes();
  Layout members[] = {layout_resized(etype, 0, 12), etype};
  const int lengths[] = {3, 2};
  const int64_t displacements[] = {0, 36};
  Layout type = layout_struct(2, lengths, displacements, members);
  Layout pair = layout_hvector(2, 1, 48, type);
  return interleave(etype, layout_resized(pair, 0, 96), rank, size);
}

static View nested(int rank, int size) {
  Layout etype = four_bytes();
  const int lengths[] = {1, 2}, displacements[] = {0, 3};
  Layout inner = layout_resized(layout_indexed(2, lengths, displacements, etype), 0, 24);
  Layout middle = layout_vector(3, 2, 3, inner);
  return interleave(etype, layout_contiguous(2, layout_hvector(2, 1, 300, middle)), rank, size);
}

static View resized_lower(int rank, int size) {
  Layout etype = four_bytes();
  Layout inner = layout_resized(layout_vector(2, 1, 2, etype), -4, 20);
  return interleave(etype, layout_resized(layout_contiguous(3, inner), -8, 72), rank, size);
}

static View duplicate(int rank, int size) {
  Layout etype = four_bytes();
  Layout filetype = layout_dup(layout_dup(layout_vector(3, 1, 2, etype)));
  return interleave(layout_dup(etype), filetype, rank, size);
}

// An etype of three integers with a hole: offsets count such groups.
static View derived_etype(int rank, int size) {
  Layout etype = layout_resized(layout_vector(2, 1, 2, four_bytes()), 0, 16);
  return interleave(etype, layout_vector(3, 2, 3, etype), rank, size);
}

// Rank and size to two grid coordinates, as even as can be.
static void grid_of(int size, int* rows, int* columns) {
  *rows = 1;
  for (int i = 1; i * i <= size; i++) {
    if (size % i == 0) *rows = i;
  }
  *columns = size / *rows;
}

static View subarray_2d(int rank, int size, int order) {
  int rows, columns;
  grid_of(size, &rows, &columns);
  const int sizes[] = {4 * rows, 6 * columns}, subsizes[] = {4, 6};
  const int starts[] = {rank / columns * 4, rank % columns * 6};
  Layout etype = layout_basic(MPI_DOUBLE, 8);
  return (View){etype, layout_subarray(2, sizes, subsizes, starts, order, etype), 0};
}

static View subarray_2d_c(int rank, int size) {
  return subarray_2d(rank, size, MPI_ORDER_C);
}
static View subarray_2d_fortran(int rank, int size) {
  return subarray_2d(rank, size, MPI_ORDER_FORTRAN);
}

static View subarray_3d(int rank, int size, int order) {
  int rows, columns;
  grid_of(size, &rows, &columns);
  const int sizes[] = {3 * rows, 5, 2 * columns + 1}, subsizes[] = {3, 4, 2};
  const int starts[] = {rank / columns * 3, 1, rank % columns * 2};
  Layout etype = four_bytes();
  return (View){etype, layout_subarray(3, sizes, subsizes, starts, order, etype), 100};
}

static View subarray_3d_c(int rank, int size) {
  return subarray_3d(rank, size, MPI_ORDER_C);
}
static View subarray_3d_fortran(int rank, int size) {
  return subarray_3d(rank, size, MPI_ORDER_FORTRAN);
}

static View darray(int rank, int size, int first, int second, int block, int order) {
  int grid[2];
  grid_of(size, &grid[0], &grid[1]);
  const int sizes[] = {6 * grid[0], 4 * grid[1]};
  const int distributions[] = {first, second};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, block};
  Layout etype = four_bytes();
  return (View){
      etype, layout_darray(size, rank, 2, sizes, distributions, arguments, grid, order, etype), 4};
}

static View darray_block(int rank, int size) {
  return darray(rank, size, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG,
                MPI_ORDER_C);
}
static View darray_cyclic(int rank, int size) {
  return darray(rank, size, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, 2, MPI_ORDER_C);
}
static View darray_fortran(int rank, int size) {
  return darray(rank, size, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, 2, MPI_ORDER_FORTRAN);
}

// Some hundred kilobytes a rank in pieces of a kilobyte: more than one buffer's worth.
static View many_pieces(int rank, int size) {
  Layout etype = four_bytes();
  Layout type = layout_vector(400, 250, 250 * size, etype);
  return (View){etype, layout_resized(type, 0, (int64_t)400 * 1000 * size), rank * 1000};
}

// Pieces of eight bytes, as from a column of a matrix.
static View tiny_pieces(int rank, int size) {
  Layout etype = layout_basic(MPI_DOUBLE, 8);
  Layout type = layout_vector(9000, 1, size, etype);
  return (View){etype, layout_resized(type, 0, (int64_t)9000 * 8 * size), rank * 8};
}

// Bytes past the old end that nobody wrote are undefined in MPI, and ROMIO leaves whatever was in
// its buffer. The engine leaves zeros, as POSIX does.
static void run_holes_past_end(Context* context) {
  if (!context->layered) return;
  run_view_filled(context, hindexed, 0.5);
  run_view_filled(context, nested, 0);
  run_view_filled(context, subarray_3d_c, 0.3);
}

#define VIEW_CASE(build)                      \
  static void run_##build(Context* context) { \
    run_view(context, build);                 \
  }
VIEW_CASE(contiguous)
VIEW_CASE(vector)
VIEW_CASE(hvector)
VIEW_CASE(indexed)
VIEW_CASE(hindexed)
VIEW_CASE(indexed_block)
VIEW_CASE(hindexed_block)
VIEW_CASE(structure)
VIEW_CASE(structure_marked)
VIEW_CASE(nested)
VIEW_CASE(resized_lower)
VIEW_CASE(duplicate)
VIEW_CASE(derived_etype)
VIEW_CASE(subarray_2d_c)
VIEW_CASE(subarray_2d_fortran)
VIEW_CASE(subarray_3d_c)
VIEW_CASE(subarray_3d_fortran)
VIEW_CASE(darray_block)
VIEW_CASE(darray_cyclic)
VIEW_CASE(darray_fortran)
VIEW_CASE(many_pieces)
VIEW_CASE(tiny_pieces)

const Case view_cases[] = {{"view_contiguous", run_contiguous},
                           {"view_vector", run_vector},
                           {"view_hvector", run_hvector},
                           {"view_indexed", run_indexed},
                           {"view_hindexed", run_hindexed},
                           {"view_indexed_block", run_indexed_block},
                           {"view_hindexed_block", run_hindexed_block},
                           {"view_struct", run_structure},
                           {"view_struct_marked", run_structure_marked},
                           {"view_nested", run_nested},
                           {"view_resized_lower", run_resized_lower},
                           {"view_dup", run_duplicate},
                           {"view_derived_etype", run_derived_etype},
                           {"view_subarray_2d_c", run_subarray_2d_c},
                           {"view_subarray_2d_fortran", run_subarray_2d_fortran},
                           {"view_subarray_3d_c", run_subarray_3d_c},
                           {"view_subarray_3d_fortran", run_subarray_3d_fortran},
                           {"view_darray_block", run_darray_block},
                           {"view_darray_cyclic", run_darray_cyclic},
                           {"view_darray_fortran", run_darray_fortran},
                           {"view_many_pieces", run_many_pieces},
                           {"view_tiny_pieces", run_tiny_pieces},
                           {"view_holes_past_end", run_holes_past_end},
                           {NULL, NULL}};
