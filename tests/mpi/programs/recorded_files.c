/* Reads and writes files in several ways, and prints for each rank and file what it asked for and
 * got: "file NAME OPENS READ WRITTEN READS WRITES COLLECTIVE_READS COLLECTIVE_WRITES".
 *
 *     recorded_files DIRECTORY RESULT [kill]
 *
 * With "kill" rank 0 kills itself before it closes the second file. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kInts = 3000, kBlock = 8 };

typedef struct {
  char path[1024];
  long opens, read, written, reads, writes, collective_reads, collective_writes;
} Tally;

static int rank, ranks;
static int data[4 * kInts];

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File open_file(MPI_Comm comm, Tally* tally) {
  MPI_File file;
  check(MPI_File_open(comm, tally->path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        "open");
  tally->opens += 1;
  return file;
}

static void wrote(Tally* tally, long bytes, int collective) {
  tally->written += bytes;
  tally->writes += 1;
  tally->collective_writes += collective;
}

static void got(Tally* tally, MPI_Status* status, int collective) {
  int bytes;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  tally->read += bytes;
  tally->reads += 1;
  tally->collective_reads += collective;
}

/* Small blocks of all ranks lie side by side. */
static void set_interleaved_view(MPI_File file) {
  MPI_Datatype type;
  MPI_Type_vector(kInts / kBlock, kBlock, kBlock * ranks, MPI_INT, &type);
  MPI_Type_commit(&type);
  check(MPI_File_set_view(file, (MPI_Offset)rank * kBlock * 4, MPI_INT, type, "native",
                          MPI_INFO_NULL),
        "set_view");
  MPI_Type_free(&type);
}

static void use_interleaved(Tally* tally) {
  MPI_Status status;
  MPI_File file = open_file(MPI_COMM_WORLD, tally);
  set_interleaved_view(file);
  for (int i = 0; i < 3; i++) {
    check(MPI_File_write_at_all(file, 0, data, kInts, MPI_INT, MPI_STATUS_IGNORE), "write_all");
    wrote(tally, kInts * 4L, 1);
  }
  check(MPI_File_read_at_all(file, 0, data, kInts, MPI_INT, &status), "read_all");
  got(tally, &status, 1);
  /* Independent, with gaps: it may read more than it gives. */
  check(MPI_File_read_at(file, 0, data, kInts / 2, MPI_INT, &status), "read_at");
  got(tally, &status, 0);
  check(MPI_File_close(&file), "close");
}

static void use_contiguous(Tally* tally, int kills) {
  MPI_Status status;
  MPI_Request request;
  MPI_File file = open_file(MPI_COMM_WORLD, tally);
  MPI_Offset place = (MPI_Offset)rank * kInts * 4;
  check(MPI_File_write_at_all(file, place, data, kInts, MPI_INT, MPI_STATUS_IGNORE), "write_all");
  wrote(tally, kInts * 4L, 1);
  check(MPI_File_iwrite_at(file, place, data, 10, MPI_INT, &request), "iwrite");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  wrote(tally, 40, 0);
  check(MPI_File_read_at(file, place, data, kInts, MPI_INT, &status), "read_at");
  got(tally, &status, 0);
  check(MPI_File_iread_at(file, place, data, 7, MPI_INT, &request), "iread");
  check(MPI_Wait(&request, &status), "wait");
  got(tally, &status, 0);
  check(MPI_File_write_at_all_begin(file, place, data, 5, MPI_INT), "begin");
  check(MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE), "end");
  wrote(tally, 20, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Behind the end of the file nothing comes. */
  check(MPI_File_read_at(file, (MPI_Offset)1 << 30, data, 5, MPI_INT, &status), "read_at");
  got(tally, &status, 0);
  if (kills) {
    if (rank == 0) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  check(MPI_File_close(&file), "close");
}

static void print(FILE* out, const Tally* tally) {
  fprintf(out, "%s %ld %ld %ld %ld %ld %ld %ld\n", tally->path, tally->opens, tally->read,
          tally->written, tally->reads, tally->writes, tally->collective_reads,
          tally->collective_writes);
}

static void name(Tally* tally, const char* directory, const char* file) {
  memset(tally, 0, sizeof *tally);
  snprintf(tally->path, sizeof tally->path, "%s/%s", directory, file);
}

int main(int argc, char** argv) {
  Tally interleaved, contiguous;
  char path[1024];
  int kills = argc > 3 && strcmp(argv[3], "kill") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  name(&interleaved, argv[1], "interleaved");
  name(&contiguous, argv[1], "contiguous");
  use_interleaved(&interleaved);
  use_interleaved(&interleaved);
  use_contiguous(&contiguous, kills);
  snprintf(path, sizeof path, "%s.%d", argv[2], rank);
  FILE* out = fopen(path, "w");
  print(out, &interleaved);
  print(out, &contiguous);
  fclose(out);
  MPI_Finalize();
  return 0;
}
