// Split collective calls: what may happen between begin and end, and what may not.
#include <string.h>
#include <unistd.h>

#include "exercise.h"

enum { integers = 500 };

static MPI_File interleaved_file(Context* context, const char* name) {
  MPI_File file = open_file(context, context->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype, resized;
  MPI_Type_contiguous(10, MPI_INT, &filetype);
  MPI_Type_create_resized(filetype, 0, 40 * context->size, &resized);
  MPI_Type_commit(&resized);
  CHECK_OK(context,
           MPI_File_set_view(file, 40 * context->rank, MPI_INT, resized, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  MPI_Type_free(&resized);
  return file;
}

static void number_them(int* values, int first) {
  for (int i = 0; i < integers; i++) values[i] = first + i;
}

// Independent calls on the file and messages go on between begin and end.
static void other_calls_between(Context* context) {
  MPI_File file = interleaved_file(context, "data");
  int values[integers], back[integers], one = 4000 + context->rank, seen = 0;
  MPI_Offset position = -1;
  MPI_Request request;
  MPI_Status status;
  number_them(values, 10000 * context->rank);
  CHECK_OK(context, MPI_File_write_at(file, integers, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, begin_transfer(file, 1, ALL, 0, 0, values, integers, MPI_INT));
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, integers);
  CHECK_OK(context, MPI_File_read_at(file, integers, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, seen, one);
  CHECK_OK(context, MPI_File_iwrite_at(file, integers + 1, &one, 1, MPI_INT, &request));
  CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Barrier(context->comm);
  CHECK_OK(context, end_transfer(file, 1, ALL, values, &status));
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(context, count, integers);
  memset(back, 0, sizeof back);
  CHECK_OK(context, begin_transfer(file, 0, AT_ALL, 1, 0, back, integers, MPI_INT));
  MPI_Barrier(context->comm);
  CHECK_OK(context, end_transfer(file, 0, AT_ALL, back, &status));
  CHECK(context, memcmp(values, back, sizeof values) == 0);
  close_file(context, &file);
}

// Each file may have one under way; ranks are late to begin and to end.
static void two_files(Context* context) {
  MPI_File first = interleaved_file(context, "first"), second = interleaved_file(context, "second");
  int values[integers], others[integers], back[integers];
  number_them(values, 10000 * context->rank);
  number_them(others, 10000 * context->rank + 5000);
  CHECK_OK(context, begin_transfer(first, 1, AT_ALL, 0, 0, values, integers, MPI_INT));
  if (context->rank == context->size - 1) usleep(10000);
  CHECK_OK(context, begin_transfer(second, 1, ALL, 0, 0, others, integers, MPI_INT));
  if (context->rank == 0) usleep(10000);
  CHECK_OK(context, end_transfer(second, 1, ALL, others, MPI_STATUS_IGNORE));
  CHECK_OK(context, end_transfer(first, 1, AT_ALL, values, MPI_STATUS_IGNORE));
  CHECK_OK(context, transfer(first, 0, AT_ALL, 0, 0, back, integers, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(values, back, sizeof values) == 0);
  CHECK_OK(context, transfer(second, 0, AT_ALL, 0, 0, back, integers, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(others, back, sizeof others) == 0);
  close_file(context, &first);
  close_file(context, &second);
}

// Ranks without data, and with different amounts.
static void uneven(Context* context) {
  MPI_File file = interleaved_file(context, "data");
  int values[integers], back[integers];
  int mine = context->rank % 2 ? 0 : integers - 7 * context->rank;
  MPI_Status status;
  number_them(values, 10000 * context->rank);
  CHECK_OK(context, begin_transfer(file, 1, AT_ALL, 1, 3, mine ? values : NULL, mine, MPI_INT));
  int count = -1;
  CHECK_OK(context, end_transfer(file, 1, AT_ALL, mine ? values : NULL, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(context, count, mine);
  memset(back, 0, sizeof back);
  CHECK_OK(context, transfer(file, 0, AT_ALL | SPLIT, 0, 3, back, mine, MPI_INT, &status));
  CHECK(context, memcmp(values, back, (size_t)mine * 4) == 0);
  close_file(context, &file);
}

static int handler_calls;
static void count_calls(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
  handler_calls++;
}

// A second begin, a collective call or an end of another kind is refused, and the first goes on.
static void mismatched(Context* context) {
  if (!context->layered) return;  // plain libraries abort, hang or take it
  MPI_File file = interleaved_file(context, "data");
  MPI_Errhandler handler;
  MPI_File_create_errhandler(count_calls, &handler);
  CHECK_OK(context, MPI_File_set_errhandler(file, handler));
  int values[integers], back[integers];
  MPI_Request request = MPI_REQUEST_NULL;
  number_them(values, 10000 * context->rank);
  handler_calls = 0;
  CHECK_CLASS(context, end_transfer(file, 1, ALL, values, MPI_STATUS_IGNORE), MPI_ERR_IO);
  CHECK_OK(context, begin_transfer(file, 1, AT_ALL, 0, 0, values, integers, MPI_INT));
  for (int method = ALL; method <= ORDERED; method++) {
    if (method == SHARED) continue;
    CHECK_CLASS(context, begin_transfer(file, 1, method, 0, 0, back, 1, MPI_INT), MPI_ERR_IO);
    CHECK_CLASS(context, begin_transfer(file, 0, method, 1, 0, back, 1, MPI_INT), MPI_ERR_IO);
    CHECK_CLASS(context, end_transfer(file, 0, method, back, MPI_STATUS_IGNORE), MPI_ERR_IO);
    if (method != AT_ALL) {
      CHECK_CLASS(context, end_transfer(file, 1, method, values, MPI_STATUS_IGNORE), MPI_ERR_IO);
    }
    CHECK_CLASS(context, transfer(file, 0, method, 0, 0, back, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_IO);
    if (method == ORDERED) continue;
    CHECK_CLASS(context, start_transfer(file, 1, method, 0, 0, back, 1, MPI_INT, &request),
                MPI_ERR_IO);
  }
  CHECK_EQUAL(context, handler_calls, 1 + 3 * 4 + 2 + 2);
  CHECK_OK(context, end_transfer(file, 1, AT_ALL, values, MPI_STATUS_IGNORE));
  CHECK_CLASS(context, end_transfer(file, 1, AT_ALL, values, MPI_STATUS_IGNORE), MPI_ERR_IO);
  CHECK_OK(context, transfer(file, 0, AT_ALL, 0, 0, back, integers, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(values, back, sizeof values) == 0);
  MPI_Errhandler_free(&handler);
  close_file(context, &file);
}

const Case split_cases[] = {{"split_other_calls", other_calls_between},
                            {"split_two_files", two_files},
                            {"split_uneven", uneven},
                            {"split_mismatched", mismatched},
                            {NULL, NULL}};
