// The shared file pointer: calls in any order and in rank order, seeking, views, what is left
// behind.
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

enum { record_integers = 6, record_bytes = 4 * record_integers };

/// A record says who wrote it and which of its records it is; the rest is the same in each.
static void make_record(int* record, int rank, int number) {
  record[0] = rank;
  record[1] = number;
  for (int i = 2; i < record_integers; i++) record[i] = 1000 * rank + number;
}

/// How often each record of ranks times `each` is in `records`. Whole records alone are found.
static void count_records(const int* records, size_t record_count, int each, int* counts) {
  for (size_t i = 0; i < record_count; i++) {
    const int* record = records + i * record_integers;
    int right = record[1] >= 0 && record[1] < each;
    for (int k = 2; k < record_integers; k++) right &= record[k] == 1000 * record[0] + record[1];
    if (right) counts[record[0] * each + record[1]]++;
  }
}

// Rank 0: the file holds each record once, and those of a rank in the order of its calls.
static void check_records(Context* context, const char* name, int each, int in_order) {
  size_t bytes = 0;
  unsigned char* content = read_whole(path_of(context, name), &bytes);
  int all = each * context->size;
  CHECK_EQUAL(context, bytes, (size_t)all * record_bytes);
  int* counts = calloc((size_t)all, sizeof(int));
  int* last = malloc(sizeof(int) * (size_t)context->size);
  memset(last, -1, sizeof(int) * (size_t)context->size);
  if (content) count_records((int*)content, bytes / record_bytes, each, counts);
  for (int i = 0; i < all; i++) {
    if (counts[i] == 1) continue;
    fail(context, __FILE__, __LINE__, "record %d of rank %d is there %d times", i % each, i / each,
         counts[i]);
    break;
  }
  for (size_t i = 0; content && in_order && i < bytes / record_bytes; i++) {
    const int* record = (int*)content + i * record_integers;
    if (record[0] < 0 || record[0] >= context->size) break;
    CHECK(context, record[1] > last[record[0]]);
    last[record[0]] = record[1];
  }
  free(last);
  free(counts);
  free(content);
}

// What was written in no fixed order must not be compared between two runs.
static void forget_order(Context* context, const char* name) {
  MPI_Barrier(context->comm);
  if (context->rank == 0) remove(path_of(context, name));
}

static void write_by(Context* context, int method) {
  enum { each = 12 };
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < each; i++) {
    int record[record_integers], count = -1;
    MPI_Status status;
    make_record(record, context->rank, i);
    CHECK_OK(context,
             transfer(file, 1, method, i % 2, 0, record, record_integers, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(context, count, record_integers);
  }
  MPI_Barrier(context->comm);
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, each * context->size * record_bytes);
  MPI_Barrier(context->comm);
  // read it all, each record by whoever comes first
  CHECK_OK(context, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int* counts = calloc((size_t)each * (size_t)context->size, sizeof(int));
  for (;;) {
    int record[record_integers] = {0}, count = -1;
    MPI_Status status;
    CHECK_OK(context, transfer(file, 0, method, 0, 0, record, record_integers, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    if (count != record_integers) break;
    count_records(record, 1, each, counts);
  }
  MPI_Allreduce(MPI_IN_PLACE, counts, each * context->size, MPI_INT, MPI_SUM, context->comm);
  for (int i = 0; i < each * context->size; i++) {
    if (counts[i] == 1) continue;
    fail(context, __FILE__, __LINE__, "record %d was read %d times", i, counts[i]);
    break;
  }
  free(counts);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  if (context->rank == 0) check_records(context, "data", each, 1);
  forget_order(context, "data");
}

static void blocking(Context* context) {
  write_by(context, SHARED);
}
static void nonblocking(Context* context) {
  write_by(context, SHARED | NONBLOCKING);
}

// Many under way at once: each got its place when it was begun.
static void many_under_way(Context* context) {
  enum { each = 50 };
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int records[each][record_integers];
  MPI_Request requests[each];
  for (int i = 0; i < each; i++) {
    make_record(records[i], context->rank, i);
    CHECK_OK(context, start_transfer(file, 1, SHARED, i % 2, 0, records[i], record_integers,
                                     MPI_INT, &requests[i]));
  }
  CHECK_OK(context, MPI_Waitall(each, requests, MPI_STATUSES_IGNORE));
  close_file(context, &file);
  MPI_Barrier(context->comm);
  if (context->rank == 0) check_records(context, "data", each, 1);
  forget_order(context, "data");
}

// In rank order, each rank with another amount, rank 1 with none; then what follows begins behind.
static void ordered_by(Context* context, int method) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int total = 0, before = 0, mine = context->rank == 1 ? 0 : 3 + context->rank;
  for (int rank = 0; rank < context->size; rank++) {
    if (rank == context->rank) before = total;
    total += rank == 1 ? 0 : 3 + rank;
  }
  int values[100], back[100];
  MPI_Status status;
  MPI_Offset position = -1;
  for (int call = 0; call < 3; call++) {
    int count = -1;
    for (int i = 0; i < mine; i++) values[i] = 1000 * call + before + i;
    CHECK_OK(context, transfer(file, 1, method, call % 2, 0, values, mine, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(context, count, mine);
    MPI_Barrier(context->comm);
    CHECK_OK(context, MPI_File_get_position_shared(file, &position));
    CHECK_EQUAL(context, position, (call + 1) * total);
    MPI_Barrier(context->comm);
  }
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 0);
  CHECK_OK(context, MPI_File_seek_shared(file, total, MPI_SEEK_SET));
  for (int call = 1; call < 3; call++) {
    memset(back, 0, sizeof back);
    CHECK_OK(context, transfer(file, 0, method, call % 2, 0, back, mine, MPI_INT, &status));
    for (int i = 0; i < mine; i++) CHECK_EQUAL(context, back[i], 1000 * call + before + i);
  }
  close_file(context, &file);
}

static void ordered(Context* context) {
  ordered_by(context, ORDERED);
}
static void split_ordered(Context* context) {
  ordered_by(context, ORDERED | SPLIT);
}

// Memory with holes, an etype of several bytes, a filetype with holes: the same on all ranks.
static void through_a_view(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype pair, filetype, every_second;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(2, 1, 3, pair, &filetype);
  MPI_Type_create_resized(MPI_INT, 0, 8, &every_second);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&filetype);
  MPI_Type_commit(&every_second);
  CHECK_OK(context, MPI_File_set_view(file, 4, pair, filetype, "native", MPI_INFO_NULL));
  int values[12], back[6];
  for (int i = 0; i < 12; i++) values[i] = 100 * context->rank + i;
  // three pairs of each rank
  CHECK_OK(context, MPI_File_write_ordered(file, values, 6, every_second, MPI_STATUS_IGNORE));
  MPI_Barrier(context->comm);
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 3 * context->size);
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_sync(file));
  MPI_Barrier(context->comm);
  int neighbour = (context->rank + 1) % context->size;
  CHECK_OK(context, MPI_File_read_at(file, 3 * neighbour, back, 6, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 6; i++) CHECK_EQUAL(context, back[i], 100 * neighbour + 2 * i);
  // a new view begins anew
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 0);
  MPI_Barrier(context->comm);
  for (int round = 0; round < 5; round++) {
    int byte = 0;
    CHECK_OK(context, MPI_File_write_ordered(file, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(context, MPI_File_set_view(file, round, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_get_position_shared(file, &position));
    CHECK_EQUAL(context, position, 0);
    MPI_Barrier(context->comm);
  }
  MPI_Type_free(&pair);
  MPI_Type_free(&filetype);
  MPI_Type_free(&every_second);
  close_file(context, &file);
}

static void seek_and_position(Context* context) {
  if (context->rank == 0) fill_file(context, "data", 100, 's');
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  const struct {
    MPI_Offset offset;
    int whence;
    MPI_Offset position;
  } steps[] = {{7, MPI_SEEK_SET, 7},   {3, MPI_SEEK_CUR, 10}, {-6, MPI_SEEK_CUR, 4},
               {-2, MPI_SEEK_END, 22}, {5, MPI_SEEK_END, 29}, {0, MPI_SEEK_SET, 0}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    MPI_Offset position = -1;
    CHECK_OK(context, MPI_File_seek_shared(file, steps[i].offset, steps[i].whence));
    CHECK_OK(context, MPI_File_get_position_shared(file, &position));
    CHECK_EQUAL(context, position, steps[i].position);
    MPI_Barrier(context->comm);
  }
  MPI_Offset position = -1;
  CHECK_CLASS(context, MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_seek_shared(file, -26, MPI_SEEK_END), MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_File_seek_shared(file, 0, 4711), MPI_ERR_ARG);
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 0);
  CHECK_OK(context, MPI_File_seek(file, 9, MPI_SEEK_SET));
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 0);
  close_file(context, &file);
}

static void at_the_end(Context* context) {
  if (context->rank == 0) fill_file(context, "data", 100, 'a');
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_WRONLY | MPI_MODE_APPEND);
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(context, position, 100);
  MPI_Barrier(context->comm);
  char byte = (char)('b' + context->rank);
  CHECK_OK(context, MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  close_file(context, &file);
}

// Less in the file than asked for: true counts, in rank order too.
static void short_reads(Context* context) {
  int bytes = 10 * context->size - 7;
  if (context->rank == 0) fill_file(context, "data", (size_t)bytes, 'e');
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  const int methods[] = {ORDERED, ORDERED | SPLIT, SHARED, SHARED | NONBLOCKING};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    char memory[10];
    MPI_Status status;
    int count = -1, sum = 0, last = context->rank == context->size - 1;
    CHECK_OK(context, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, methods[i], 0, 0, memory, 10, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, context->comm);
    CHECK_EQUAL(context, sum, bytes);
    if (is_collective(methods[i])) CHECK_EQUAL(context, count, last ? 3 : 10);
  }
  close_file(context, &file);
}

static void list_directory(Context* context, char* names, size_t capacity) {
  names[0] = 0;
  DIR* directory = opendir(context->directory);
  for (struct dirent* entry; directory && (entry = readdir(directory));) {
    if (!strstr(entry->d_name, context->case_name)) continue;
    strncat(names, entry->d_name, capacity - strlen(names) - 2);
    strcat(names, "\n");
  }
  if (directory) closedir(directory);
}

// Nothing appears in the directory but the file itself, before, during and after.
static void nothing_left(Context* context) {
  char names[4][2000];
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Barrier(context->comm);
  list_directory(context, names[0], sizeof names[0]);
  MPI_Barrier(context->comm);
  int value = context->rank;
  CHECK_OK(context, MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(context->comm);
  list_directory(context, names[1], sizeof names[1]);
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  CHECK_OK(context, MPI_File_read_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  list_directory(context, names[2], sizeof names[2]);
  MPI_Barrier(context->comm);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  list_directory(context, names[3], sizeof names[3]);
  for (int i = 0; i < 4; i++) CHECK(context, strcmp(names[i], "shared_litter.data\n") == 0);
}

// Rank 0 waits in MPI_Recv until the others have moved the pointer: they need no call of its.
static void first_rank_waits(Context* context) {
  enum { each = 5 };
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (context->rank == 0) {
    for (int other = 1; other < context->size; other++) {
      MPI_Recv(NULL, 0, MPI_INT, other, 5, context->comm, MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < each; i++) {
    int record[record_integers];
    make_record(record, context->rank, i);
    CHECK_OK(context,
             MPI_File_write_shared(file, record, record_integers, MPI_INT, MPI_STATUS_IGNORE));
  }
  if (context->rank > 0) MPI_Ssend(NULL, 0, MPI_INT, 0, 5, context->comm);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  if (context->rank == 0) check_records(context, "data", each, 1);
  forget_order(context, "data");
}

enum { workers = 3, each_of_thread = 20 };
typedef struct {
  MPI_File file;
  int rank, first, method, wrong;
} Worker;

static void* write_records(void* argument) {
  Worker* worker = argument;
  for (int i = 0; i < each_of_thread; i++) {
    int record[record_integers], count = -1;
    MPI_Status status;
    make_record(record, worker->rank, worker->first + i);
    worker->wrong += transfer(worker->file, 1, worker->method, 0, 0, record, record_integers,
                              MPI_INT, &status) != MPI_SUCCESS;
    MPI_Get_count(&status, MPI_INT, &count);
    worker->wrong += count != record_integers;
  }
  return NULL;
}

// Several threads on one handle, by the shared pointer: no record is lost and none torn.
static void threads(Context* context) {
  if (context->thread_level < MPI_THREAD_MULTIPLE) {
    note(context, "no MPI_THREAD_MULTIPLE");
    return;
  }
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_WRONLY);
  pthread_t threads[workers];
  Worker work[workers];
  for (int i = 0; i < workers; i++) {
    int method = i % 2 ? SHARED | NONBLOCKING : SHARED;
    work[i] = (Worker){file, context->rank, i * each_of_thread, method, 0};
    pthread_create(&threads[i], NULL, write_records, &work[i]);
  }
  for (int i = 0; i < workers; i++) {
    pthread_join(threads[i], NULL);
    CHECK_EQUAL(context, work[i].wrong, 0);
  }
  close_file(context, &file);
  MPI_Barrier(context->comm);
  if (context->rank == 0) check_records(context, "data", workers * each_of_thread, 0);
  forget_order(context, "data");
}

const Case shared_cases[] = {{"shared_blocking", blocking},
                             {"shared_nonblocking", nonblocking},
                             {"shared_many", many_under_way},
                             {"shared_ordered", ordered},
                             {"shared_split_ordered", split_ordered},
                             {"shared_view", through_a_view},
                             {"shared_seek", seek_and_position},
                             {"shared_append", at_the_end},
                             {"shared_short", short_reads},
                             {"shared_litter", nothing_left},
                             {"shared_first_rank_waits", first_rank_waits},
                             {"shared_threads", threads},
                             {NULL, NULL}};
