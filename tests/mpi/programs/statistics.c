/* Writes and reads one file of all ranks and some of each rank's own, and tells of each what it
 * asked for, as recorded_files.c does, in RESULT.RANK. statistics.F90 does the same.
 *
 *     statistics DIRECTORY RESULT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlock = 8, kBlocks = 64, kOwnFiles = 3, kInts = kBlock * kBlocks };

static int data[8 * kInts];

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File open_file(MPI_Comm comm, const char* path) {
  MPI_File file;
  check(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
  return file;
}

/* Blocks of all ranks side by side, then as much that nobody writes. */
static void use_shared(const char* path, int rank, int ranks, FILE* tally) {
  MPI_Datatype type;
  MPI_File file = open_file(MPI_COMM_WORLD, path);
  MPI_Type_vector(kBlocks, kBlock, 2 * kBlock * ranks, MPI_INT, &type);
  MPI_Type_commit(&type);
  check(MPI_File_set_view(file, (MPI_Offset)rank * kBlock * 4, MPI_INT, type, "native",
                          MPI_INFO_NULL),
        "set_view");
  check(MPI_File_write_at_all(file, 0, data, kInts, MPI_INT, MPI_STATUS_IGNORE), "write_all");
  check(MPI_File_read_at_all(file, 0, data, kInts, MPI_INT, MPI_STATUS_IGNORE), "read_all");
  if (rank == 0) check(MPI_File_read_at(file, 0, data, 2, MPI_INT, MPI_STATUS_IGNORE), "read");
  MPI_Barrier(MPI_COMM_WORLD);
  check(MPI_File_close(&file), "close");
  MPI_Type_free(&type);
  fprintf(tally, "%s 1 %d %d %d 1 1 1\n", path, kInts * 4 + (rank == 0 ? 8 : 0), kInts * 4,
          rank == 0 ? 2 : 1);
}

static void use_own(const char* path, int rank, FILE* tally) {
  const int ints = 100 * (rank + 1);
  MPI_File file = open_file(MPI_COMM_SELF, path);
  check(MPI_File_write_at(file, 0, data, ints, MPI_INT, MPI_STATUS_IGNORE), "write");
  check(MPI_File_read_at(file, 0, data, 10, MPI_INT, MPI_STATUS_IGNORE), "read");
  check(MPI_File_close(&file), "close");
  fprintf(tally, "%s 1 40 %d 1 1 0 0\n", path, ints * 4);
}

int main(int argc, char** argv) {
  int rank, ranks;
  char path[1024];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof path, "%s.%d", argv[2], rank);
  FILE* const tally = fopen(path, "w");
  snprintf(path, sizeof path, "%s/shared", argv[1]);
  use_shared(path, rank, ranks, tally);
  for (int i = 0; i < kOwnFiles; i++) {
    snprintf(path, sizeof path, "%s/own.%d.%d", argv[1], rank, i);
    use_own(path, rank, tally);
  }
  fclose(tally);
  MPI_Finalize();
  return 0;
}
