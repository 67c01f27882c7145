// Ranks write pieces that take turns in one file by a collective call and read them back; told is
// what the leaders of nodes sent each other.
//
//   exchange_counts FILE PIECE SEGMENTS [STYLE [AGGREGATORS]]
//
// STYLE: blocking, split, or nonblocking (which asks for MPI_THREAD_MULTIPLE).
//
// Prints "write PATH MESSAGES BYTES" and the same for reading, summed over the ranks, and "wrong
// N".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int rank, size;
static const char* style = "blocking";

static long long told(MPI_File file, char* key) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "0";
  int found = 0;
  MPI_File_get_info(file, &info);
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&info);
  return found ? atoll(value) : 0;
}

static void tell(MPI_File file, char* what, char* key, const long long before[2]) {
  long long mine[2] = {told(file, "headrace_messages_sent") - before[0],
                       told(file, "headrace_bytes_sent") - before[1]};
  long long all[2] = {0, 0};
  MPI_Info info;
  char path[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Reduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_File_get_info(file, &info);
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, path, &found);
  MPI_Info_free(&info);
  if (rank == 0) printf("%s %s %lld %lld\n", what, path, all[0], all[1]);
}

static void move(MPI_File file, int writes, void* data, int bytes) {
  MPI_Request request;
  int code = MPI_SUCCESS;
  if (strcmp(style, "nonblocking") == 0) {
    code = writes ? MPI_File_iwrite_at_all(file, 0, data, bytes, MPI_BYTE, &request)
                  : MPI_File_iread_at_all(file, 0, data, bytes, MPI_BYTE, &request);
    check(code == MPI_SUCCESS, "begin");
    // Nobody waits in MPI before the last has begun.
    MPI_Barrier(MPI_COMM_WORLD);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(style, "split") == 0 && writes) {
    check(MPI_File_write_at_all_begin(file, 0, data, bytes, MPI_BYTE) == MPI_SUCCESS, "begin");
    code = MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
  } else if (strcmp(style, "split") == 0) {
    check(MPI_File_read_at_all_begin(file, 0, data, bytes, MPI_BYTE) == MPI_SUCCESS, "begin");
    code = MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE);
  } else if (writes) {
    code = MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  } else {
    code = MPI_File_read_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  check(code == MPI_SUCCESS, writes ? "write" : "read");
}

int main(int count, char** arguments) {
  if (count > 4) style = arguments[4];
  int provided = MPI_THREAD_SINGLE;
  const int wanted = strcmp(style, "nonblocking") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &arguments, wanted, &provided);
  check(provided >= wanted, "have threads");
  MPI_Info hints = MPI_INFO_NULL;
  if (count > 5) {
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_nodes", arguments[5]);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int piece = atoi(arguments[2]), segments = atoi(arguments[3]);
  const int bytes = piece * segments;
  unsigned char* data = malloc(bytes);
  unsigned char* back = calloc(bytes, 1);
  for (int i = 0; i < bytes; ++i) {
    const long long at = ((long long)(i / piece) * size + rank) * piece + i % piece;
    data[i] = (unsigned char)(at * 2654435761LL >> 13);
  }
  MPI_Datatype type;
  MPI_Type_vector(segments, piece, piece * size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, arguments[1], MPI_MODE_RDWR | MPI_MODE_CREATE, hints,
                      &file) == MPI_SUCCESS,
        "open");
  MPI_File_set_view(file, (MPI_Offset)rank * piece, MPI_BYTE, type, "native", MPI_INFO_NULL);
  const long long nothing[2] = {0, 0};
  move(file, 1, data, bytes);
  tell(file, "write", "headrace_write_taken", nothing);
  const long long written[2] = {told(file, "headrace_messages_sent"),
                                told(file, "headrace_bytes_sent")};
  move(file, 0, back, bytes);
  tell(file, "read", "headrace_read_taken", written);
  int wrong = 0, all_wrong = 0;
  for (int i = 0; i < bytes; ++i) wrong += data[i] != back[i];
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all_wrong);
  if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
  MPI_Type_free(&type);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
