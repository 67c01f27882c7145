// Much of something: ranks, files, communicators, opens, pieces; and ranks that do not give the
// same.
//
//   rough_scale [--deep] [--only CASE,...] [--skip CASE,...] DIRECTORY
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"

static void raise_descriptor_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Two thousand files open at once, each with data of its own; a collective call through each.
static void files_at_once(Context* context) {
  const int count = context->deep ? 2000 : 300;
  raise_descriptor_limit();
  MPI_File* files = malloc(sizeof *files * (size_t)count);
  char name[40];
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, "data%d", i);
    files[i] = open_file(context, context->comm, name,
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  }
  for (int writing = 1; writing >= 0; writing--) {
    for (int i = 0; i < count; i++) {
      int value = writing ? 1000 * i + context->rank : -1;
      CHECK_OK(context, transfer(files[i], writing, AT_ALL, 0, 4 * context->rank, &value, 1,
                                 MPI_INT, MPI_STATUS_IGNORE));
      CHECK_EQUAL(context, value, 1000 * i + context->rank);
    }
  }
  for (int i = 0; i < count; i++) close_file(context, &files[i]);
  free(files);
}

/// Bytes that the program has allocated.
static long long allocated(void) {
  const struct mallinfo2 all = mallinfo2();
  return (long long)all.uordblks + (long long)all.hblkhd;
}

// Thousands of opens one after another: memory does not grow.
static void opens_keep_memory(Context* context) {
  const int count = context->deep ? 3000 : 600, first = count / 3;
  long long before = 0;
  MPI_Datatype filetype;
  MPI_Type_vector(50, 2, 2 * context->size, MPI_INT, &filetype);
  MPI_Type_commit(&filetype);
  for (int i = 0; i < count; i++) {
    int values[100] = {i}, back[100];
    if (i == first) before = allocated();
    MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_OK(context, MPI_File_set_view(file, 8 * context->rank, MPI_INT, filetype, "native",
                                        MPI_INFO_NULL));
    CHECK_OK(context, transfer(file, 1, i % 2 ? AT_ALL : AT_ALL | SPLIT, 0, 0, values, 100, MPI_INT,
                               MPI_STATUS_IGNORE));
    CHECK_OK(context, transfer(file, 0, i % 3 ? AT : AT | NONBLOCKING, 0, 0, back, 100, MPI_INT,
                               MPI_STATUS_IGNORE));
    CHECK(context, memcmp(values, back, sizeof back) == 0);
    if (i % 50 == 0) {
      CHECK_OK(context, MPI_File_write_shared(file, values, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    close_file(context, &file);
  }
  MPI_Type_free(&filetype);
  const long long grown = allocated() - before;
  // Nothing that a file keeps: less than 20 bytes an open, besides what the library sets aside
  // once.
  if (context->layered) CHECK(context, grown < 32768 + 20ll * (count - first));
  if (getenv("MPI_TEST_TIMES")) fprintf(stderr, "rank %d: grown by %lld\n", context->rank, grown);
}

// Once no rank lags: what it has not taken yet lies in memory of the library.
static long long allocated_by_all(Context* context) {
  MPI_Barrier(context->comm);
  return allocated();
}

// Communicators that are duplicated and freed, each with a file that outlives it or not. What the
// library sets aside once is in one third of them at most: Intel MPI takes 512 KiB for the first
// message that comes before it is expected.
static void communicators(Context* context) {
  const int count = context->deep ? 10000 : 500;
  long long before[2] = {0, 0};
  for (int i = 0; i < count; i++) {
    MPI_Comm comm;
    if (i == count / 3) before[0] = allocated_by_all(context);
    if (i == 2 * (count / 3)) before[1] = allocated_by_all(context);
    MPI_Comm_dup(context->comm, &comm);
    MPI_File file = open_file(context, comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (i % 2) MPI_Comm_free(&comm);
    int value = i + context->rank, seen = -1;
    CHECK_OK(context,
             MPI_File_write_at_all(file, 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(context,
             MPI_File_read_at(file, 4 * context->rank, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, seen, value);
    close_file(context, &file);
    if (i % 2 == 0) MPI_Comm_free(&comm);
  }
  const long long later = allocated_by_all(context) - before[1], sooner = before[1] - before[0];
  const long long grown = later < sooner ? later : sooner;
  if (context->layered) CHECK(context, grown < 50ll * count);
  if (getenv("MPI_TEST_TIMES")) fprintf(stderr, "rank %d: grown by %lld\n", context->rank, grown);
}

// Communicators that live on after a file was opened and closed over each.
static void living_communicators(Context* context) {
  enum { count = 1500 };
  static MPI_Comm comms[count];
  for (int i = 0; i < count; i++) {
    CHECK_OK(context, MPI_Comm_dup(context->comm, &comms[i]));
    MPI_File file = open_file(context, comms[i], "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int value = i + context->rank, seen = -1;
    CHECK_OK(context,
             MPI_File_write_at_all(file, 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(context,
             MPI_File_read_at(file, 4 * context->rank, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, seen, value);
    close_file(context, &file);
  }
  for (int i = 0; i < count; i++) MPI_Comm_free(&comms[i]);
}

// All kinds of calls by many ranks, with counts that differ from rank to rank and call to call.
static void different_counts(Context* context) {
  enum { most = 3000, rounds = 6 };
  const int rank = context->rank, size = context->size;
  unsigned char* memory = malloc(most);
  unsigned char* back = malloc(most);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype;
  MPI_Type_vector(most / 10, 10, 10 * size, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(context,
           MPI_File_set_view(file, 10 * rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  for (int round = 0; round < rounds; round++) {
    const int methods[] = {AT_ALL, AT_ALL | NONBLOCKING, AT_ALL | SPLIT, AT};
    const int count = (rank + round) % 3 == 0 ? 0 : (rank * 977 + round * 331) % most;
    fill_pattern(memory, most, rank, round);
    MPI_Status status;
    int got = -1;
    CHECK_OK(context, transfer(file, 1, methods[round % 4], 0, (MPI_Offset)round * most, memory,
                               count, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(context, got, count);
    MPI_Barrier(context->comm);
    CHECK_OK(context, transfer(file, 0, methods[(round + 1) % 4], 0, (MPI_Offset)round * most, back,
                               count, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(context, got, count);
    CHECK(context, memcmp(back, memory, (size_t)count) == 0);
  }
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_set_size(file, 0));
  CHECK_OK(context, MPI_File_write_ordered(file, memory, rank, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_write_shared(file, memory, rank % 5, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(context->comm);
  MPI_Offset found = -1;
  int mine = rank + rank % 5, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, context->comm);
  CHECK_OK(context, MPI_File_get_size(file, &found));
  CHECK_EQUAL(context, found, all);
  free(memory);
  free(back);
  close_file(context, &file);
}

// Each rank opens a file of its own name over all, which the standard does not allow. What is
// written is in the rank's own file, or an error says why not; what is read comes from there.
static void different_names(Context* context) {
  enum { piece = 1000, pieces = 40, bytes = piece * pieces };
  const int rank = context->rank, size = context->size;
  char name[32];
  snprintf(name, sizeof name, "data%d", rank);
  fill_file(context, name, bytes, (unsigned char)('a' + rank));
  MPI_Barrier(context->comm);
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_File_open(context->comm, path_of(context, name), MPI_MODE_CREATE | MPI_MODE_RDWR,
                           MPI_INFO_NULL, &file);
  int opened = code == MPI_SUCCESS, all = 0;
  MPI_Allreduce(&opened, &all, 1, MPI_INT, MPI_SUM, context->comm);
  CHECK(context, all == 0 || all == size);
  if (!opened) return;
  MPI_Datatype filetype;
  MPI_Type_vector(pieces / size, piece, piece * size, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  unsigned char* memory = malloc(bytes);
  CHECK_OK(context, MPI_File_read_at(file, 0, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int i = 0; i < bytes; i++) CHECK(context, memory[i] == 'a' + rank);
  CHECK_OK(context, MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_BYTE, filetype, "native",
                                      MPI_INFO_NULL));
  const int mine = pieces / size * piece;
  for (int method = ALL; method <= (ALL | SPLIT); method += NONBLOCKING) {
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    memset(memory, 0, (size_t)mine);
    CHECK_OK(context, transfer(file, 0, method, 0, 0, memory, mine, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < mine; i++) CHECK(context, memory[i] == 'a' + rank);
    memset(memory, 'A' + rank, (size_t)mine);
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 1, method, 0, 0, memory, mine, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(context->comm);
    size_t found = 0;
    unsigned char* content = read_whole(path_of(context, name), &found);
    for (int i = 0; content && i < pieces / size; i++) {
      unsigned char* at = content + ((size_t)i * (size_t)size + (size_t)rank) * piece;
      CHECK(context, *at == 'A' + rank && at[piece - 1] == 'A' + rank);
    }
    free(content);
    MPI_Barrier(context->comm);
    fill_file(context, name, bytes, (unsigned char)('a' + rank));
    MPI_Barrier(context->comm);
  }
  MPI_Type_free(&filetype);
  free(memory);
  close_file(context, &file);
}

int main(int argc, char** argv) {
  const Case cases[] = {
      {"files_at_once", files_at_once},       {"opens_keep_memory", opens_keep_memory},
      {"communicators", communicators},       {"living_communicators", living_communicators},
      {"different_counts", different_counts}, {"different_names", different_names}};
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
