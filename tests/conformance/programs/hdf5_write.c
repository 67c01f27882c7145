// Writes an HDF5 file in the ways parallel programs do, reads it back in other pieces, and leaves
// it for hdf5_check.py, which knows what must be in it. usage: hdf5_write FILE

#include <hdf5.h>
#include <stdlib.h>

#include "check.h"

enum { kRows = 8, kColumns = 37, kChunkRows = 4, kChunkColumns = 16, kSets = 20 };

static int rank, size;

static hid_t collective(H5FD_mpio_xfer_t mode) {
  hid_t list = H5Pcreate(H5P_DATASET_XFER);
  CHECK(H5Pset_dxpl_mpio(list, mode) >= 0);
  return list;
}

static hid_t plane(hsize_t rows, hsize_t columns) {
  hsize_t sizes[] = {rows, columns};
  return H5Screate_simple(2, sizes, NULL);
}

/// Writes rows x columns numbers from (row, column) on, `stride` rows apart; nothing where rows is
/// 0.
static void put(hid_t set, hid_t transfer, hsize_t row, hsize_t column, hsize_t rows,
                hsize_t columns, hsize_t stride) {
  int* numbers = malloc((rows * columns + 1) * sizeof *numbers);
  for (hsize_t i = 0; i < rows * columns; i++) {
    numbers[i] = (int)((row + i / columns * stride) * 1000 + column + i % columns);
  }
  hid_t memory = plane(rows ? rows : 1, columns), file = H5Dget_space(set);
  hsize_t start[] = {row, column}, step[] = {stride, 1}, count[] = {rows, columns};
  if (rows == 0) {
    H5Sselect_none(memory);
    H5Sselect_none(file);
  } else {
    CHECK(H5Sselect_hyperslab(file, H5S_SELECT_SET, start, step, count, NULL) >= 0);
  }
  CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, file, transfer, numbers) >= 0);
  H5Sclose(memory);
  H5Sclose(file);
  free(numbers);
}

/// A set of the numbers row * 1000 + column. `layout` as H5Pset_layout, with gzip where `level` >
/// 0.
static hid_t make(hid_t file, const char* name, hid_t type, int chunked, int level) {
  hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = plane((hsize_t)(kRows * size), kColumns);
  hsize_t chunk[] = {kChunkRows + 1, kChunkColumns};
  if (chunked) CHECK(H5Pset_chunk(list, 2, chunk) >= 0);
  if (level) CHECK(H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, (unsigned)level) >= 0);
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK(set >= 0);
  H5Sclose(space);
  H5Pclose(list);
  return set;
}

static void write_sets(hid_t file) {
  hid_t together = collective(H5FD_MPIO_COLLECTIVE), alone = collective(H5FD_MPIO_INDEPENDENT);
  hsize_t mine = (hsize_t)(rank * kRows), begin = (hsize_t)(kColumns * rank / size);
  hsize_t width = (hsize_t)(kColumns * (rank + 1) / size) - begin, all = (hsize_t)(kRows * size);

  hid_t set = make(file, "rows", H5T_STD_I32LE, 0, 0);
  put(set, together, mine, 0, kRows, kColumns, 1);
  H5Dclose(set);
  set = make(file, "columns", H5T_STD_I32BE, 0, 0);
  put(set, together, 0, begin, all, width, 1);
  H5Dclose(set);
  set = make(file, "interleaved", H5T_STD_I64LE, 0, 0);
  put(set, together, (hsize_t)rank, 0, kRows, kColumns, (hsize_t)size);
  H5Dclose(set);
  set = make(file, "chunked", H5T_STD_I32LE, 1, 0);
  put(set, together, 0, begin, all, width, 1);
  H5Dclose(set);
  set = make(file, "compressed", H5T_STD_I32LE, 1, 6);
  put(set, together, mine, 0, kRows, kColumns, 1);
  H5Dclose(set);
  set = make(file, "independent", H5T_STD_I32LE, 0, 0);
  for (hsize_t i = 0; i < kRows; i++) put(set, alone, mine + i, 0, 1, kColumns, 1);
  H5Dclose(set);
  set = make(file, "last", H5T_STD_I32LE, 1, 0);
  put(set, together, 0, 0, rank == size - 1 ? all : 0, kColumns, 1);
  H5Dclose(set);
  H5Pclose(together);
  H5Pclose(alone);
}

/// A set that grows by a block of each rank, three times, with a flush in between.
static void grow(hid_t file) {
  hsize_t sizes[] = {0, kColumns}, limits[] = {H5S_UNLIMITED, kColumns}, chunk[] = {3, 10};
  hid_t space = H5Screate_simple(2, sizes, limits), list = H5Pcreate(H5P_DATASET_CREATE);
  CHECK(H5Pset_chunk(list, 2, chunk) >= 0);
  hid_t set = H5Dcreate2(file, "growing", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  hid_t together = collective(H5FD_MPIO_COLLECTIVE);
  for (int i = 0; i < 3; i++) {
    hsize_t row = (hsize_t)((i * size + rank) * 2);
    sizes[0] = (hsize_t)((i + 1) * size * 2);
    CHECK(H5Dset_extent(set, sizes) >= 0);
    put(set, together, row, 0, 2, kColumns, 1);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  }
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(list);
  H5Pclose(together);
}

/// Many small sets in a group, each written by one rank and with an attribute.
static void many(hid_t file) {
  hid_t group = H5Gcreate2(file, "many", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = plane(2, 3), scalar = H5Screate(H5S_SCALAR),
        alone = collective(H5FD_MPIO_INDEPENDENT);
  for (int i = 0; i < kSets; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    hid_t set =
        H5Dcreate2(group, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t note = H5Acreate2(set, "number", H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(set >= 0 && H5Awrite(note, H5T_NATIVE_INT, &i) >= 0);
    if (i % size == rank) put(set, alone, 0, 0, 2, 3, 1);
    H5Aclose(note);
    H5Dclose(set);
  }
  H5Pclose(alone);
  H5Sclose(scalar);
  H5Sclose(space);
  H5Gclose(group);
}

/// All ranks read all of a set in columns, whoever wrote it.
static void read_back(hid_t file, const char* name) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  hid_t together = collective(H5FD_MPIO_COLLECTIVE);
  hsize_t sizes[2];
  H5Sget_simple_extent_dims(space, sizes, NULL);
  hsize_t start[] = {0, (hsize_t)(kColumns * rank / size)};
  hsize_t count[] = {sizes[0], (hsize_t)(kColumns * (rank + 1) / size) - start[1]};
  int* numbers = calloc(count[0] * count[1] + 1, sizeof *numbers);
  hid_t memory = plane(count[0], count[1]);
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
  CHECK(H5Dread(set, H5T_NATIVE_INT, memory, space, together, numbers) >= 0);
  for (hsize_t i = 0; i < count[0] * count[1]; i++) {
    CHECK(numbers[i] == (int)(i / count[1] * 1000 + start[1] + i % count[1]));
  }
  free(numbers);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(set);
  H5Pclose(together);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  CHECK(H5Pset_coll_metadata_write(access, 1) >= 0 && H5Pset_all_coll_metadata_ops(access, 1) >= 0);
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(file >= 0);
  write_sets(file);
  grow(file);
  many(file);
  CHECK(H5Fclose(file) >= 0);
  file = H5Fopen(argv[1], H5F_ACC_RDONLY, access);
  CHECK(file >= 0);
  const char* names[] = {"rows",       "columns",     "interleaved", "chunked",
                         "compressed", "independent", "last",        "growing"};
  for (int i = 0; i < 8; i++) read_back(file, names[i]);
  CHECK(H5Fclose(file) >= 0);
  H5Pclose(access);
  return finish();
}
