// Small calls of ranks on one file, mixed with calls that other ranks see. Written for buffers that
// hold such calls back (HEADRACE_IOBUF); a right program, so its answers are the same without them.
//
//   buffered FILE RECORDS END
//
// Rank r owns every record i with i % ranks == r, of 100 bytes each. Prints "wrong N" on rank 0:
// answers of any rank that are not as the standard has them. END says how the program ends:
//
//   close       MPI_File_close, MPI_Finalize
//   finalize    MPI_Finalize without closing
//   abort       MPI_Abort by rank 0, while the others hold back nothing
//   abort-all   MPI_Abort by rank 0, while all hold something back
//   exit        exit() in the handler of a signal that comes while it writes
//   alarm       exit() in the handler of a signal that comes at any moment while it writes the file
//               anew: prints "written N" before, records that its calls have written
//   limit       the file may not grow beyond half of its size: prints "told N failed M", calls that
//               returned an error, and 1 if a sync or the close did
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "abort_job.h"
#include "check.h"

enum { record = 100 };

static long long wrong;
static int rank, size, records;
static MPI_File file;

static unsigned char value(int round, long long i) {
  return (unsigned char)(1 + (i + round) % 250);
}

static int write_record(int round, long long i, MPI_Status* status) {
  unsigned char data[record];
  memset(data, value(round, i), record);
  return MPI_File_write_at(file, i * record, data, record, MPI_BYTE, status);
}

static void expect_record(int round, long long i) {
  unsigned char data[record];
  MPI_Status status;
  int count = -1;
  memset(data, 0, record);
  wrong += MPI_File_read_at(file, i * record, data, record, MPI_BYTE, &status) != MPI_SUCCESS;
  MPI_Get_count(&status, MPI_BYTE, &count);
  wrong += count != record;
  for (int j = 0; j < record; ++j) wrong += data[j] != value(round, i);
}

static void sync_all(void) {
  wrong += MPI_File_sync(file) != MPI_SUCCESS;
  MPI_Barrier(MPI_COMM_WORLD);
  wrong += MPI_File_sync(file) != MPI_SUCCESS;
}

static void write_all_records(int round) {
  MPI_Status status;
  for (long long i = rank; i < records; i += size) {
    wrong += write_record(round, i, &status) != MPI_SUCCESS;
  }
}

/// Each rank its own records, then all read all, once they are synchronised.
static void own_then_all(int round) {
  MPI_Status status;
  for (long long i = rank; i < records; i += size) {
    wrong += write_record(round, i, &status) != MPI_SUCCESS;
    if (i % 7 == 0) expect_record(round, i);  // a rank sees its own at once
  }
  sync_all();
  for (long long i = 0; i < records; ++i) expect_record(round, i);
  sync_all();
}

/// A contiguous part for each rank, by the individual pointer, with waits for requests.
static void by_pointer(int round) {
  const long long part = records / size;
  unsigned char data[2][record];
  MPI_Status status;
  MPI_Request request;
  wrong += MPI_File_seek(file, rank * part * record, MPI_SEEK_SET) != MPI_SUCCESS;
  for (long long i = rank * part; i < (rank + 1) * part; ++i) {
    memset(data[0], value(round, i), record);
    if (i % 3 == 0) {
      wrong += MPI_File_iwrite(file, data[0], record, MPI_BYTE, &request) != MPI_SUCCESS;
      wrong += MPI_Wait(&request, &status) != MPI_SUCCESS;
    } else {
      wrong += MPI_File_write(file, data[0], record, MPI_BYTE, &status) != MPI_SUCCESS;
    }
  }
  wrong += MPI_File_seek(file, rank * part * record, MPI_SEEK_SET) != MPI_SUCCESS;
  for (long long i = rank * part; i < (rank + 1) * part; ++i) {
    wrong += MPI_File_read(file, data[1], record, MPI_BYTE, &status) != MPI_SUCCESS;
    for (int j = 0; j < record; ++j) wrong += data[1][j] != value(round, i);
  }
  sync_all();
}

/// A collective write over what ranks have written by themselves: the later counts.
static void collective_over_own(int round) {
  MPI_Datatype mine, shown;
  MPI_Status status;
  const int own = (records - rank + size - 1) / size;
  unsigned char* data = malloc((size_t)own * record + 1);
  for (long long i = rank; i < records; i += size) {
    wrong += write_record(round, i, &status) != MPI_SUCCESS;
  }
  for (int i = 0; i < own; ++i)
    memset(data + i * record, value(round + 1, rank + i * size), record);
  MPI_Type_contiguous(record, MPI_BYTE, &mine);
  MPI_Type_create_resized(mine, 0, (MPI_Aint)record * size, &shown);
  MPI_Type_commit(&shown);
  wrong += MPI_File_set_view(file, (MPI_Offset)rank * record, MPI_BYTE, shown, "native",
                             MPI_INFO_NULL) != MPI_SUCCESS;
  wrong += MPI_File_write_at_all(file, 0, data, own * record, MPI_BYTE, &status) != MPI_SUCCESS;
  memset(data, 0, (size_t)own * record);
  wrong += MPI_File_read_at_all(file, 0, data, own * record, MPI_BYTE, &status) != MPI_SUCCESS;
  for (int i = 0; i < own * record; ++i) {
    wrong += data[i] != value(round + 1, rank + (long long)(i / record) * size);
  }
  wrong += MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) != MPI_SUCCESS;
  sync_all();
  for (long long i = 0; i < records; ++i) expect_record(round + 1, i);
  sync_all();
  MPI_Type_free(&mine);
  MPI_Type_free(&shown);
  free(data);
}

/// Sizes are those with what a rank holds back.
/// A collective call that goes on while the rank reads its way to where that writes.
static void collective_beside_reads(int round) {
  enum { large = 40 * record };
  unsigned char data[large];
  MPI_Status status;
  MPI_Request request;
  const long long whole = (long long)records * record;
  write_all_records(round);
  sync_all();
  memset(data, 200, large);
  const MPI_Offset place = whole + (MPI_Offset)rank * large;
  wrong += MPI_File_iwrite_at_all(file, place, data, large, MPI_BYTE, &request) != MPI_SUCCESS;
  for (long long i = 0; i < records; ++i) expect_record(round, i);
  wrong += MPI_Wait(&request, &status) != MPI_SUCCESS;
  memset(data, 0, large);
  for (int i = 0; i < large; i += record) {
    wrong += MPI_File_read_at(file, place + i, data + i, record, MPI_BYTE, &status) != MPI_SUCCESS;
  }
  for (int i = 0; i < large; ++i) wrong += data[i] != 200;
  sync_all();
}

static void sizes(int round) {
  MPI_Status status;
  MPI_Offset bytes = -1;
  const long long whole = (long long)records * record;
  wrong += MPI_File_set_size(file, whole / 2) != MPI_SUCCESS;
  wrong += MPI_File_get_size(file, &bytes) != MPI_SUCCESS;
  wrong += bytes != whole / 2;
  sync_all();
  if (rank == 0) {
    wrong += write_record(round, records - 1, &status) != MPI_SUCCESS;
    wrong += MPI_File_get_size(file, &bytes) != MPI_SUCCESS;
    wrong += bytes != whole;
    wrong += MPI_File_seek(file, 0, MPI_SEEK_END) != MPI_SUCCESS;
    wrong += MPI_File_get_position(file, &bytes) != MPI_SUCCESS;
    wrong += bytes != whole;
  }
  sync_all();
  wrong += MPI_File_set_size(file, 0) != MPI_SUCCESS;
  wrong += MPI_File_get_size(file, &bytes) != MPI_SUCCESS;
  wrong += bytes != 0;
  sync_all();
}

static void leave(int number) {
  (void)number;
  exit(3);
}

static volatile long long written;

static void leave_at_any_moment(int number) {
  char line[50];
  (void)number;
  if (write(1, line, (size_t)sprintf(line, "written %lld\n", written)) < 0) _exit(9);
  exit(3);
}

static void write_until_the_alarm(void) {
  MPI_Status status;
  const struct itimerval soon = {{0, 0}, {0, 20000 + getpid() % 7 * 1000}};
  signal(SIGALRM, leave_at_any_moment);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (long long i = 0;; ++i) {
    if (write_record(6, i % 100000, &status) != MPI_SUCCESS) ++wrong;
    if (written < 100000) ++written;
  }
}

static void limited(void) {
  const struct rlimit half = {(rlim_t)records * record / 2, RLIM_INFINITY};
  long long told = 0;
  int failed = 0;
  MPI_Status status;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &half);
  for (long long i = rank; i < records; i += size) {
    const int code = write_record(9, i, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    told += code != MPI_SUCCESS;
    wrong += code == MPI_SUCCESS && count != record;
  }
  failed = MPI_File_sync(file) != MPI_SUCCESS;
  failed |= MPI_File_close(&file) != MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &told, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("told %d failed %d\n", told > 0, failed);
}

// Rank 0 has written anew, and calls MPI_Abort. What others hold back is not written then.
static void abort_holding_back(int others_hold) {
  write_all_records(rank == 0 || others_hold ? 4 : 6);
  check(MPI_File_sync(file) == MPI_SUCCESS, "sync the file");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 || others_hold) write_all_records(6);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    for (;;) pause();
  }
  abort_job(4);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc == 4, "start: buffered FILE RECORDS END");
  records = atoi(argv[2]);
  const char* end = argv[3];
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS,
        "open the file");
  if (strcmp(end, "alarm") == 0) write_until_the_alarm();
  if (strcmp(end, "limit") == 0) {
    limited();
  } else {
    own_then_all(1);
    by_pointer(2);
    collective_over_own(3);
    collective_beside_reads(7);
    sizes(5);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %lld\n", wrong);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(end, "exit") == 0) signal(SIGUSR2, leave);
  if (strncmp(end, "abort", 5) == 0) abort_holding_back(strcmp(end, "abort-all") == 0);
  if (strcmp(end, "limit") != 0) write_all_records(6);
  if (strcmp(end, "exit") == 0) raise(SIGUSR2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(end, "close") == 0) check(MPI_File_close(&file) == MPI_SUCCESS, "close the file");
  MPI_Finalize();
  return 0;
}
