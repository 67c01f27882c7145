// Ranks read one file to memory that lies so many bytes behind a page, and check what they got.
//
//   misplaced_reads FILE
//
// Rank 0 writes the file. Each rank reads stretches of it by independent and collective calls, at
// explicit offsets and by its pointer, within the file, over its end and behind it. Prints
// "wrong N": bytes that are not the file's, were touched though nothing was read there, or were
// counted falsely.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { page = 4096, file_size = 700001, untouched = 0xa5 };

static long long wrong;
static unsigned char* memory;  // begins a page

static unsigned char content(long long at) {
  return (unsigned char)(at % 9973 * 2654435761LL >> 7);
}

// After a read of `wanted` bytes from `offset` to `behind` bytes behind the page.
static void settle(int code, MPI_Status* status, int behind, long long offset, int wanted) {
  int count = -1;
  const long long left = offset < file_size ? file_size - offset : 0;
  const int expected = left < wanted ? (int)left : wanted;
  check(code == MPI_SUCCESS, "read");
  MPI_Get_count(status, MPI_BYTE, &count);
  wrong += count != expected;
  for (int i = 0; i < file_size + 2 * page; ++i) {
    const int within = i >= behind && i < behind + expected;
    wrong += memory[i] != (within ? content(offset + i - behind) : untouched);
  }
  memset(memory, untouched, file_size + 2 * page);
}

static void read_by_every_call(MPI_File file, int behind, long long offset, int wanted) {
  unsigned char* const to = memory + behind;
  MPI_Status status;
  int code = MPI_File_read_at(file, offset, to, wanted, MPI_BYTE, &status);
  settle(code, &status, behind, offset, wanted);
  code = MPI_File_read_at_all(file, offset, to, wanted, MPI_BYTE, &status);
  settle(code, &status, behind, offset, wanted);
  check(MPI_File_seek(file, offset, MPI_SEEK_SET) == MPI_SUCCESS, "seek");
  code = MPI_File_read(file, to, wanted, MPI_BYTE, &status);
  settle(code, &status, behind, offset, wanted);
  MPI_Request request;
  check(MPI_File_iread_at(file, offset, to, wanted, MPI_BYTE, &request) == MPI_SUCCESS, "read");
  code = MPI_Wait(&request, &status);
  settle(code, &status, behind, offset, wanted);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(argc == 2, "go on without the name of a file");
  memory = aligned_alloc(page, (file_size + 3 * page) / page * page);
  check(memory != NULL, "get memory");
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS,
        "open the file");
  if (rank == 0) {
    for (int i = 0; i < file_size; ++i) memory[i] = content(i);
    check(MPI_File_write_at(file, 0, memory, file_size, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "write");
  }
  check(MPI_File_sync(file) == MPI_SUCCESS, "sync");
  MPI_Barrier(MPI_COMM_WORLD);
  memset(memory, untouched, file_size + 2 * page);
  static const long long offsets[] = {0, 1, 8192 + 5, 600000, file_size - 4096, file_size, 800000};
  static const int lengths[] = {4095, 4096, 131072, 300001, 700001};
  for (int behind = 0; behind < 64; behind += behind < 2 ? 1 : 15) {
    for (unsigned i = 0; i < sizeof offsets / sizeof *offsets; ++i) {
      const int place = behind + (int)(offsets[i] % page);
      for (unsigned j = 0; j < sizeof lengths / sizeof *lengths; ++j) {
        read_by_every_call(file, place, offsets[i], lengths[j]);
      }
    }
  }
  MPI_File_close(&file);
  long long all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %lld\n", all);
  free(memory);
  MPI_Finalize();
  return 0;
}
