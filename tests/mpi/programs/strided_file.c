// Ranks move pieces that take turns in one file, once, and rank 0 tells how long it took.
//
//   strided_file WAY FILE PIECE SEGMENTS [HINT=VALUE ...]
//
// WAY is "write" (one collective call), "read" (the same; each rank reads the pieces of a rank half
// the job away, which is on another node), both as "write+read", "reread" (as "read", but 40 calls,
// 15 ms apart, of which the last counts), or "posix" (each rank a pwrite for each piece). The time
// of a write ends when the file's data are synced and it is closed. Prints "seconds write N",
// "seconds read N", "wrong N" (bytes), and "hint KEY VALUE" for each in use.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int rank, size;

// The same as serial_file.py's.
static unsigned char content(long long at) {
  return (unsigned char)(at % 999983 * 2654435761LL >> 13);
}

static void print_hints(MPI_File file) {
  MPI_Info info;
  int keys = 0;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return;
  MPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (found) printf("hint %s %s\n", key, value);
  }
  MPI_Info_free(&info);
}

static double posix_write(const char* name, const unsigned char* data, int piece, int segments) {
  const int file = open(name, O_RDWR | O_CREAT, 0644);
  check(file >= 0, "open the file");
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < segments; ++i) {
    const off_t at = ((off_t)i * size + rank) * piece;
    check(pwrite(file, data + (size_t)i * piece, piece, at) == piece, "write");
  }
  check(fsync(file) == 0, "sync");
  close(file);
  return MPI_Wtime() - begin;
}

static unsigned char* pieces_of(int whose, int piece, int segments) {
  unsigned char* const data = malloc((size_t)piece * segments);
  check(data != NULL, "get memory");
  for (int i = 0; i < piece * segments; ++i) {
    data[i] = content(((long long)(i / piece) * size + whose) * piece + i % piece);
  }
  return data;
}

static MPI_File open_strided(const char* name, int mode, int whose, int piece, int segments,
                             MPI_Info info) {
  MPI_File file;
  MPI_Datatype type;
  check(MPI_File_open(MPI_COMM_WORLD, name, mode, info, &file) == MPI_SUCCESS, "open the file");
  MPI_Type_vector(segments, piece, piece * size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, (MPI_Offset)whose * piece, MPI_BYTE, type, "native", info);
  MPI_Type_free(&type);
  MPI_Barrier(MPI_COMM_WORLD);
  return file;
}

static double write_all(const char* name, const unsigned char* data, int piece, int segments,
                        MPI_Info info) {
  MPI_File file = open_strided(name, MPI_MODE_RDWR | MPI_MODE_CREATE, rank, piece, segments, info);
  const double begin = MPI_Wtime();
  check(MPI_File_write_at_all(file, 0, data, piece * segments, MPI_BYTE, MPI_STATUS_IGNORE) ==
            MPI_SUCCESS,
        "write");
  check(MPI_File_sync(file) == MPI_SUCCESS, "sync");
  const double synced = MPI_Wtime();
  if (rank == 0) print_hints(file);
  const double closing = MPI_Wtime();
  check(MPI_File_close(&file) == MPI_SUCCESS, "close");
  return MPI_Wtime() - closing + synced - begin;
}

static double read_all(const char* name, int* wrong, int piece, int segments, int calls,
                       MPI_Info info) {
  const int whose = (rank + (size + 1) / 2) % size;
  unsigned char* const expected = pieces_of(whose, piece, segments);
  unsigned char* const data = calloc(segments, piece);
  MPI_File file = open_strided(name, MPI_MODE_RDONLY, whose, piece, segments, info);
  double begin = 0;
  for (int call = 0; call < calls; ++call) {
    const struct timespec pause = {.tv_nsec = 15 * 1000 * 1000};
    if (call > 0) nanosleep(&pause, NULL);
    begin = MPI_Wtime();
    check(MPI_File_read_at_all(file, 0, data, piece * segments, MPI_BYTE, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS,
          "read");
  }
  const double end = MPI_Wtime();
  if (rank == 0) print_hints(file);
  MPI_File_close(&file);
  for (int i = 0; i < piece * segments; ++i) *wrong += data[i] != expected[i];
  free(data);
  free(expected);
  return end - begin;
}

static void tell(const char* what, double mine) {
  double longest = 0;
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("seconds %s %.6f\n", what, longest);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(count >= 5, "start without WAY FILE PIECE SEGMENTS");
  const char *const way = arguments[1], *const name = arguments[2];
  const int piece = atoi(arguments[3]), segments = atoi(arguments[4]);
  const int calls = strstr(way, "reread") ? 40 : 1;
  int wrong = 0, all_wrong = 0;
  MPI_Info info;
  MPI_Info_create(&info);
  for (int i = 5; i < count; ++i) {
    char* const value = strchr(arguments[i], '=');
    check(value != NULL, "take a hint without =");
    *value = 0;
    MPI_Info_set(info, arguments[i], value + 1);
  }
  unsigned char* const data = pieces_of(rank, piece, segments);
  if (strcmp(way, "posix") == 0) tell("write", posix_write(name, data, piece, segments));
  if (strstr(way, "write")) tell("write", write_all(name, data, piece, segments, info));
  if (strstr(way, "read")) tell("read", read_all(name, &wrong, piece, segments, calls, info));
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all_wrong);
  MPI_Info_free(&info);
  free(data);
  MPI_Finalize();
  return 0;
}
