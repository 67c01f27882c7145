// Writes and reads COUNT longs a rank in a data representation, by each kind of call in turn, and
// checks what came back. The representation is external32, or one of this program.
//
//   converted_calls PATH COUNT [own]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
  BLOCKING,
  SHARED,
  ORDERED,
  ATOMIC,
  ATOMIC_ALL,
  NONBLOCKING,
  NONBLOCKING_ALL,
  NONBLOCKING_SHARED,
  SPLIT,
  SPLIT_ORDERED,
  KINDS
} Kind;

static int rank, size;

static int move(MPI_File file, Kind kind, int writes, MPI_Offset offset, long* data, int count) {
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  int wrong = 0, got = -1;
#define CALL(name, ...) \
  (writes ? MPI_File_write##name(__VA_ARGS__) : MPI_File_read##name(__VA_ARGS__))
#define START(name, ...) \
  (writes ? MPI_File_iwrite##name(__VA_ARGS__) : MPI_File_iread##name(__VA_ARGS__))
  switch (kind) {
    case BLOCKING:
    case ATOMIC: wrong = CALL(_at, file, offset, data, count, MPI_LONG, &status); break;
    case ATOMIC_ALL: wrong = CALL(_at_all, file, offset, data, count, MPI_LONG, &status); break;
    case SHARED: wrong = CALL(_shared, file, data, count, MPI_LONG, &status); break;
    case ORDERED: wrong = CALL(_ordered, file, data, count, MPI_LONG, &status); break;
    case NONBLOCKING: wrong = START(_at, file, offset, data, count, MPI_LONG, &request); break;
    case NONBLOCKING_ALL:
      wrong = START(_at_all, file, offset, data, count, MPI_LONG, &request);
      break;
    case NONBLOCKING_SHARED: wrong = START(_shared, file, data, count, MPI_LONG, &request); break;
    case SPLIT:
      wrong = CALL(_at_all_begin, file, offset, data, count, MPI_LONG) ||
              CALL(_at_all_end, file, data, &status);
      break;
    case SPLIT_ORDERED:
      wrong = CALL(_ordered_begin, file, data, count, MPI_LONG) ||
              CALL(_ordered_end, file, data, &status);
      break;
    default: break;
  }
  if (kind == NONBLOCKING || kind == NONBLOCKING_ALL || kind == NONBLOCKING_SHARED) {
    wrong = MPI_Wait(&request, &status) || wrong;
  }
  MPI_Get_count(&status, MPI_LONG, &got);
  return wrong || got != count;
}

static int has_shared_place(Kind kind) {
  return kind == SHARED || kind == ORDERED || kind == NONBLOCKING_SHARED || kind == SPLIT_ORDERED;
}

// Of other counts on the ranks, so that they have different numbers of parts.
static int round_trip(MPI_File file, Kind kind, int most) {
  int count = rank == 0 ? most : most / 3;
  MPI_Offset offset = rank == 0 ? 0 : most + (rank - 1) * (MPI_Offset)(most / 3), end = -1;
  long* data = malloc(sizeof(long) * (size_t)count);
  for (int i = 0; i < count; i++) data[i] = (i % 2 ? -1L : 1L) * (i + 1000L * kind + rank);
  int atomic = kind == ATOMIC || kind == ATOMIC_ALL;
  int wrong = MPI_File_set_atomicity(file, atomic);
  wrong = MPI_File_seek_shared(file, 0, MPI_SEEK_SET) || wrong;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int writes = 1; writes >= 0; writes--) {
    // By the shared pointer alone the ranks come one after the other, so that each finds its own.
    int in_turns = kind == SHARED || kind == NONBLOCKING_SHARED;
    for (int turn = 0; in_turns && turn < rank; turn++) MPI_Barrier(MPI_COMM_WORLD);
    wrong = move(file, kind, writes, offset, data, count) || wrong;
    for (int turn = rank; in_turns && turn < size; turn++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!writes) break;
    if (has_shared_place(kind)) {
      wrong = MPI_File_get_position_shared(file, &end) || wrong;
      wrong = wrong || end != most + (MPI_Offset)(size - 1) * (most / 3);
    }
    memset(data, 0, sizeof(long) * (size_t)count);
    wrong = MPI_File_seek_shared(file, 0, MPI_SEEK_SET) || wrong;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < count; i++) {
    wrong = wrong || data[i] != (i % 2 ? -1L : 1L) * (i + 1000L * kind + rank);
  }
  free(data);
  return wrong;
}

// In the representation of this program every bit is turned over.
static void turn_over(long* to, const long* from, int count) {
  for (int i = 0; i < count; i++) to[i] = ~from[i];
}

static int own_read(void* user, MPI_Datatype type, int count, void* stored, MPI_Offset position,
                    void* state) {
  (void)type, (void)state;
  turn_over((long*)user + position, stored, count);
  return MPI_SUCCESS;
}

static int own_write(void* user, MPI_Datatype type, int count, void* stored, MPI_Offset position,
                     void* state) {
  (void)type, (void)state;
  turn_over(stored, (const long*)user + position, count);
  return MPI_SUCCESS;
}

static int own_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)type, (void)state;
  *extent = sizeof(long);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info info;
  MPI_Info_create(&info);
  // Ranks meet in their collective calls.
  MPI_Info_set(info, "headrace_write_path", "staged");
  MPI_Info_set(info, "headrace_read_path", "staged");
  const char* datarep = argc > 3 ? argv[3] : "external32";
  int wrong = argc > 3 && MPI_Register_datarep(datarep, own_read, own_write, own_extent, NULL);
  MPI_File file;
  wrong =
      wrong || MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  wrong = wrong || MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, datarep, MPI_INFO_NULL);
  for (int kind = 0; kind < KINDS && !wrong; kind++) {
    wrong = round_trip(file, (Kind)kind, atoi(argv[2]));
    if (wrong) printf("rank %d: kind %d is wrong\n", rank, kind);
  }
  wrong = MPI_File_close(&file) || wrong;
  MPI_Info_free(&info);
  MPI_Finalize();
  return wrong;
}
