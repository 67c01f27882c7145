// MPI datatypes next to their type maps, byte by byte: what the standard says a type means, worked
// out here without asking an MPI (and without any code of the engine).
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/// A datatype and, for each byte of its data in order, where that byte lies from the type's origin.
typedef struct {
  MPI_Datatype type;  ///< committed
  size_t bytes;
  int64_t* at;
  int64_t lower_bound;
  int64_t extent;
  int marked;  ///< bounds were set (resized, subarray, darray): unmarked neighbours do not count
} Layout;

Layout layout_basic(MPI_Datatype type, size_t bytes);
Layout layout_dup(Layout old);
Layout layout_contiguous(int count, Layout old);
/// Strides and displacements are in extents of `old`; in bytes in the h forms.
Layout layout_vector(int count, int blocklength, int stride, Layout old);
Layout layout_hvector(int count, int blocklength, int64_t stride, Layout old);
Layout layout_indexed(int count, const int* blocklengths, const int* displacements, Layout old);
Layout layout_hindexed(int count, const int* blocklengths, const int64_t* displacements,
                       Layout old);
Layout layout_indexed_block(int count, int blocklength, const int* displacements, Layout old);
Layout layout_hindexed_block(int count, int blocklength, const int64_t* displacements, Layout old);
Layout layout_struct(int count, const int* blocklengths, const int64_t* displacements,
                     const Layout* olds);
Layout layout_resized(Layout old, int64_t lower_bound, int64_t extent);
/// `order` is MPI_ORDER_C or MPI_ORDER_FORTRAN; at most four dimensions.
Layout layout_subarray(int dimensions, const int* sizes, const int* subsizes, const int* starts,
                       int order, Layout old);
Layout layout_darray(int size, int rank, int dimensions, const int* sizes, const int* distributions,
                     const int* arguments, const int* grid, int order, Layout old);
/// Frees all layouts made since the last call, and their datatypes.
void layouts_release(void);

/// Where byte `position` of the data lies when the type is repeated at its extent from `origin`.
int64_t layout_place(const Layout* layout, int64_t origin, int64_t position);
/// Past the last byte that `bytes` bytes of data touch, and before the first (0 when there are
/// none).
int64_t layout_end(const Layout* layout, int64_t origin, int64_t bytes);
int64_t layout_begin(const Layout* layout, int64_t origin, int64_t bytes);
/// Copies bytes [position, position + bytes) of the view's data between a file's image, `origin`
/// being its displacement, and memory laid out as `memory_layout` (from its first byte).
void layout_transfer(int writing, unsigned char* image, int64_t origin, const Layout* file,
                     int64_t position, unsigned char* memory, const Layout* memory_layout,
                     int64_t bytes);
