#include "layout.h"

#include <stdlib.h>
#include <string.h>

enum { pool_capacity = 4096, most_dimensions = 4 };

static struct {
  MPI_Datatype type;
  int64_t* at;
} pool[pool_capacity];
static int pool_used = 0;

// Commits the type, gives it to the pool and allocates room for its map.
static Layout new_layout(MPI_Datatype type, size_t bytes) {
  Layout layout = {.type = type, .bytes = bytes, .at = malloc((bytes + 1) * sizeof(int64_t))};
  if (pool_used == pool_capacity) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Type_commit(&layout.type);
  pool[pool_used].type = layout.type;
  pool[pool_used++].at = layout.at;
  return layout;
}

void layouts_release(void) {
  while (pool_used > 0) {
    pool_used--;
    if (pool[pool_used].type != MPI_DATATYPE_NULL) MPI_Type_free(&pool[pool_used].type);
    free(pool[pool_used].at);
  }
}

Layout layout_basic(MPI_Datatype type, size_t bytes) {
  MPI_Datatype copy;
  MPI_Type_dup(type, &copy);
  Layout layout = new_layout(copy, bytes);
  for (size_t i = 0; i < bytes; i++) layout.at[i] = (int64_t)i;
  layout.extent = (int64_t)bytes;
  return layout;
}

// Follows the definition of MPI_Type_create_struct, of which the others are special cases.
static Layout map_struct(MPI_Datatype type, int count, const int* blocklengths,
                         const int64_t* displacements, const Layout* olds) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += (size_t)blocklengths[i] * olds[i].bytes;
  Layout layout = new_layout(type, bytes);
  for (int i = 0; i < count; i++) {
    layout.marked |= blocklengths[i] > 0 && olds[i].marked;
  }
  size_t next = 0;
  int seen = 0;
  int64_t low = 0, high = 0;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < blocklengths[i]; j++) {
      int64_t origin = displacements[i] + j * olds[i].extent;
      for (size_t k = 0; k < olds[i].bytes; k++) layout.at[next++] = origin + olds[i].at[k];
      if (olds[i].marked != layout.marked) continue;
      int64_t begin = origin + olds[i].lower_bound;
      int64_t end = begin + olds[i].extent;
      if (!seen || begin < low) low = begin;
      if (!seen || end > high) high = end;
      seen = 1;
    }
  }
  layout.lower_bound = low;
  layout.extent = high - low;
  return layout;
}

// Equal old types: displacements in bytes, one blocklength or a list of them.
static Layout map_blocks(MPI_Datatype type, int count, int blocklength, const int* blocklengths,
                         const int64_t* displacements, Layout old) {
  Layout* olds = malloc((size_t)(count + 1) * sizeof *olds);
  int* lengths = malloc((size_t)(count + 1) * sizeof *lengths);
  for (int i = 0; i < count; i++) {
    olds[i] = old;
    lengths[i] = blocklengths ? blocklengths[i] : blocklength;
  }
  Layout layout = map_struct(type, count, lengths, displacements, olds);
  free(lengths);
  free(olds);
  return layout;
}

Layout layout_dup(Layout old) {
  MPI_Datatype type;
  MPI_Type_dup(old.type, &type);
  Layout layout = new_layout(type, old.bytes);
  memcpy(layout.at, old.at, old.bytes * sizeof *old.at);
  layout.lower_bound = old.lower_bound;
  layout.extent = old.extent;
  layout.marked = old.marked;
  return layout;
}

Layout layout_contiguous(int count, Layout old) {
  MPI_Datatype type;
  MPI_Type_contiguous(count, old.type, &type);
  int64_t displacement = 0;
  return map_blocks(type, 1, count, NULL, &displacement, old);
}

static Layout map_vector(MPI_Datatype type, int count, int blocklength, int64_t stride,
                         Layout old) {
  int64_t* displacements = malloc((size_t)(count + 1) * sizeof *displacements);
  for (int i = 0; i < count; i++) displacements[i] = i * stride;
  Layout layout = map_blocks(type, count, blocklength, NULL, displacements, old);
  free(displacements);
  return layout;
}

Layout layout_vector(int count, int blocklength, int stride, Layout old) {
  MPI_Datatype type;
  MPI_Type_vector(count, blocklength, stride, old.type, &type);
  return map_vector(type, count, blocklength, stride * old.extent, old);
}

Layout layout_hvector(int count, int blocklength, int64_t stride, Layout old) {
  MPI_Datatype type;
  MPI_Type_create_hvector(count, blocklength, (MPI_Aint)stride, old.type, &type);
  return map_vector(type, count, blocklength, stride, old);
}

static Layout map_indexed(MPI_Datatype type, int count, int blocklength, const int* blocklengths,
                          const int* displacements, Layout old) {
  int64_t* bytes = malloc((size_t)(count + 1) * sizeof *bytes);
  for (int i = 0; i < count; i++) bytes[i] = displacements[i] * old.extent;
  Layout layout = map_blocks(type, count, blocklength, blocklengths, bytes, old);
  free(bytes);
  return layout;
}

Layout layout_indexed(int count, const int* blocklengths, const int* displacements, Layout old) {
  MPI_Datatype type;
  MPI_Type_indexed(count, blocklengths, displacements, old.type, &type);
  return map_indexed(type, count, 0, blocklengths, displacements, old);
}

Layout layout_indexed_block(int count, int blocklength, const int* displacements, Layout old) {
  MPI_Datatype type;
  MPI_Type_create_indexed_block(count, blocklength, displacements, old.type, &type);
  return map_indexed(type, count, blocklength, NULL, displacements, old);
}

Layout layout_hindexed(int count, const int* blocklengths, const int64_t* displacements,
                       Layout old) {
  MPI_Datatype type;
  MPI_Type_create_hindexed(count, blocklengths, (const MPI_Aint*)displacements, old.type, &type);
  return map_blocks(type, count, 0, blocklengths, displacements, old);
}

Layout layout_hindexed_block(int count, int blocklength, const int64_t* displacements, Layout old) {
  MPI_Datatype type;
  MPI_Type_create_hindexed_block(count, blocklength, (const MPI_Aint*)displacements, old.type,
                                 &type);
  return map_blocks(type, count, blocklength, NULL, displacements, old);
}

Layout layout_struct(int count, const int* blocklengths, const int64_t* displacements,
                     const Layout* olds) {
  MPI_Datatype type;
  MPI_Datatype* types = malloc((size_t)(count + 1) * sizeof *types);
  for (int i = 0; i < count; i++) types[i] = olds[i].type;
  MPI_Type_create_struct(count, blocklengths, (const MPI_Aint*)displacements, types, &type);
  free(types);
  return map_struct(type, count, blocklengths, displacements, olds);
}

Layout layout_resized(Layout old, int64_t lower_bound, int64_t extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(old.type, (MPI_Aint)lower_bound, (MPI_Aint)extent, &type);
  Layout layout = new_layout(type, old.bytes);
  memcpy(layout.at, old.at, old.bytes * sizeof *old.at);
  layout.lower_bound = lower_bound;
  layout.extent = extent;
  layout.marked = 1;
  return layout;
}

// The elements of an array that `owned` tells of: owned[d][0..owned_count[d]) are the indices in
// dimension d. Bounds are those of the whole array.
static Layout map_array(MPI_Datatype type, int dimensions, const int* sizes, int* const* owned,
                        const int* owned_count, int order, Layout old) {
  size_t elements = 1;
  int64_t stride[most_dimensions], all = 1;
  int fastest_first[most_dimensions];
  for (int i = 0; i < dimensions; i++) {
    int d = order == MPI_ORDER_FORTRAN ? i : dimensions - 1 - i;
    fastest_first[i] = d;
    stride[d] = all * old.extent;
    all *= sizes[d];
    elements *= (size_t)owned_count[d];
  }
  Layout layout = new_layout(type, elements * old.bytes);
  for (size_t e = 0; e < elements; e++) {
    size_t rest = e;
    int64_t origin = 0;
    for (int i = 0; i < dimensions; i++) {
      int d = fastest_first[i];
      origin += owned[d][rest % (size_t)owned_count[d]] * stride[d];
      rest /= (size_t)owned_count[d];
    }
    for (size_t k = 0; k < old.bytes; k++) layout.at[e * old.bytes + k] = origin + old.at[k];
  }
  layout.lower_bound = 0;
  layout.extent = all * old.extent;
  layout.marked = 1;
  return layout;
}

Layout layout_subarray(int dimensions, const int* sizes, const int* subsizes, const int* starts,
                       int order, Layout old) {
  MPI_Datatype type;
  MPI_Type_create_subarray(dimensions, sizes, subsizes, starts, order, old.type, &type);
  int* owned[most_dimensions] = {NULL};
  for (int d = 0; d < dimensions; d++) {
    owned[d] = malloc((size_t)subsizes[d] * sizeof(int));
    for (int i = 0; i < subsizes[d]; i++) owned[d][i] = starts[d] + i;
  }
  Layout layout = map_array(type, dimensions, sizes, owned, subsizes, order, old);
  for (int d = 0; d < dimensions; d++) free(owned[d]);
  return layout;
}

Layout layout_darray(int size, int rank, int dimensions, const int* sizes, const int* distributions,
                     const int* arguments, const int* grid, int order, Layout old) {
  MPI_Datatype type;
  MPI_Type_create_darray(size, rank, dimensions, sizes, distributions, arguments, grid, order,
                         old.type, &type);
  int* owned[most_dimensions] = {NULL};
  int owned_count[most_dimensions] = {0};
  int rest = rank;  // the grid is row-major whatever the order of the array
  for (int d = dimensions - 1; d >= 0; d--) {
    int coordinate = rest % grid[d];
    rest /= grid[d];
    int block = arguments[d];
    if (block == MPI_DISTRIBUTE_DFLT_DARG) {
      block = distributions[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[d] + grid[d] - 1) / grid[d];
    }
    owned[d] = malloc((size_t)sizes[d] * sizeof(int));
    owned_count[d] = 0;
    for (int i = 0; i < sizes[d]; i++) {
      int owner = distributions[d] == MPI_DISTRIBUTE_NONE ? 0 : (i / block) % grid[d];
      if (owner == coordinate) owned[d][owned_count[d]++] = i;
    }
  }
  Layout layout = map_array(type, dimensions, sizes, owned, owned_count, order, old);
  for (int d = 0; d < dimensions; d++) free(owned[d]);
  return layout;
}

int64_t layout_place(const Layout* layout, int64_t origin, int64_t position) {
  int64_t bytes = (int64_t)layout->bytes;
  return origin + position / bytes * layout->extent + layout->at[position % bytes];
}

int64_t layout_end(const Layout* layout, int64_t origin, int64_t bytes) {
  int64_t end = 0;
  for (int64_t i = 0; i < bytes; i++) {
    int64_t place = layout_place(layout, origin, i) + 1;
    if (place > end) end = place;
  }
  return end;
}

int64_t layout_begin(const Layout* layout, int64_t origin, int64_t bytes) {
  int64_t begin = 0;
  for (int64_t i = 0; i < bytes; i++) {
    int64_t place = layout_place(layout, origin, i);
    if (i == 0 || place < begin) begin = place;
  }
  return begin;
}

void layout_transfer(int writing, unsigned char* image, int64_t origin, const Layout* file,
                     int64_t position, unsigned char* memory, const Layout* memory_layout,
                     int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++) {
    unsigned char* in_file = image + layout_place(file, origin, position + i);
    unsigned char* in_memory = memory + layout_place(memory_layout, 0, i);
    if (writing) {
      *in_file = *in_memory;
    } else {
      *in_memory = *in_file;
    }
  }
}
