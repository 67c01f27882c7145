// Data representations whose functions the program registers: what the functions are called with
// and on which thread, their errors, and what a missing one means.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

enum { width = 12 };  ///< characters of a number in the file

/// What the functions are given as extra_state, and what they saw.
typedef struct {
  pthread_t thread;  ///< on which they must be called
  int other_threads, extents, reads, writes;
  int64_t items;     ///< of all reads and writes
  int fails;         ///< what the conversions return
  int extent_fails;  ///< what the extent function returns
  int strange;       ///< calls with a type that was not used
} Seen;

static Seen seen;

static void see_thread(Seen* state) {
  if (!pthread_equal(state->thread, pthread_self())) state->other_threads++;
}

/// Ints lie one after the other, or 16 bytes apart.
static int* place_of(Seen* state, void* memory, MPI_Datatype type, int64_t item) {
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower, &extent);
  if (size != 4 || (extent != 4 && extent != 16)) state->strange++;
  return (int*)((char*)memory + item * extent);
}

static int write_items(void* memory, MPI_Datatype type, int64_t count, void* stored,
                       MPI_Offset position, Seen* state) {
  see_thread(state);
  state->writes++;
  state->items += count;
  for (int64_t i = 0; i < count; i++) {
    char text[width + 1];
    snprintf(text, sizeof text, "%*d\n", width - 1, *place_of(state, memory, type, position + i));
    memcpy((char*)stored + width * i, text, width);
  }
  return state->fails;
}

static int read_items(void* memory, MPI_Datatype type, int64_t count, void* stored,
                      MPI_Offset position, Seen* state) {
  see_thread(state);
  state->reads++;
  state->items += count;
  for (int64_t i = 0; i < count; i++) {
    *place_of(state, memory, type, position + i) = atoi((char*)stored + width * i);
  }
  return state->fails;
}

static int write_text(void* memory, MPI_Datatype type, int count, void* stored, MPI_Offset position,
                      void* state) {
  return write_items(memory, type, count, stored, position, state);
}
static int read_text(void* memory, MPI_Datatype type, int count, void* stored, MPI_Offset position,
                     void* state) {
  return read_items(memory, type, count, stored, position, state);
}

static int text_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  Seen* own = state;
  see_thread(own);
  own->extents++;
  *extent = type == MPI_INT ? width : 1;
  return own->extent_fails;
}

static void start(void) {
  static int registered;
  memset(&seen, 0, sizeof seen);
  seen.thread = pthread_self();
  if (!registered++) MPI_Register_datarep("text", read_text, write_text, text_extent, &seen);
}

/// Each rank's numbers are every size-th of the file.
static MPI_File text_file(Context* context, const char* name) {
  MPI_File file = open_file(context, context->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype, tiled;
  int place = context->rank;
  MPI_Type_create_indexed_block(1, 1, &place, MPI_INT, &filetype);
  MPI_Type_create_resized(filetype, 0, width * context->size, &tiled);
  MPI_Type_commit(&tiled);
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_INT, tiled, "text", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  MPI_Type_free(&tiled);
  return file;
}

static int default_calls;
static void count_default(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
  default_calls++;
}

static void registering(Context* context) {
  char too_long[2 * MPI_MAX_DATAREP_STRING];
  MPI_Errhandler handler, before;
  memset(too_long, 'x', sizeof too_long);
  too_long[sizeof too_long - 1] = '\0';
  start();
  MPI_File_get_errhandler(MPI_FILE_NULL, &before);
  MPI_File_create_errhandler(count_default, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  default_calls = 0;
  const char* const taken[] = {"text", "native", "internal", "external32"};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
    CHECK_CLASS(context, MPI_Register_datarep(taken[i], read_text, write_text, text_extent, &seen),
                MPI_ERR_DUP_DATAREP);
  }
  CHECK_CLASS(context, MPI_Register_datarep(too_long, read_text, write_text, text_extent, &seen),
              MPI_ERR_ARG);
  CHECK_CLASS(context, MPI_Register_datarep("no extent", read_text, write_text, NULL, &seen),
              MPI_ERR_ARG);
  CHECK_EQUAL(context, default_calls, 6);
  MPI_File_set_errhandler(MPI_FILE_NULL, before);
  MPI_Errhandler_free(&handler);
}

enum { numbers = 5 };

// By every method, from ints that lie together and from spaced ones.
static void every_method(Context* context) {
  start();
  MPI_Datatype spaced;
  MPI_Type_create_resized(MPI_INT, 0, 16, &spaced);
  MPI_Type_commit(&spaced);
  for (int i = 0; i < OWN_PLACE_METHODS; i++) {
    MPI_File file = text_file(context, method_name(own_place_methods[i]));
    int mine[4 * numbers], back[4 * numbers], count = -1;
    MPI_Status status;
    MPI_Aint extent = -1;
    for (int k = 0; k < 4 * numbers; k++) mine[k] = k % 4 ? -1 : 1000 * context->rank + k / 4;
    seen.items = 0;
    CHECK_OK(context, MPI_File_get_type_extent(file, spaced, &extent));
    CHECK_EQUAL(context, extent, 16);
    CHECK_OK(context,
             transfer(file, 1, own_place_methods[i], i % 2, 0, mine, numbers, spaced, &status));
    MPI_Get_count(&status, spaced, &count);
    CHECK_EQUAL(context, count, numbers);
    CHECK_EQUAL(context, seen.items, numbers);
    MPI_Barrier(context->comm);
    memset(back, 0, sizeof back);
    CHECK_OK(context, MPI_File_seek(file, 2, MPI_SEEK_SET));
    CHECK_OK(context,
             transfer(file, 0, own_place_methods[i], i % 2, 2, back, numbers, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(context, count, numbers - 2);
    CHECK_EQUAL(context, seen.items, numbers + numbers - 2);
    for (int k = 0; k < numbers; k++) {
      CHECK_EQUAL(context, back[k], k + 2 < numbers ? mine[4 * (k + 2)] : 0);
    }
    close_file(context, &file);
    size_t bytes = 0;
    unsigned char* whole = read_whole(path_of(context, method_name(own_place_methods[i])), &bytes);
    CHECK_EQUAL(context, bytes, width * numbers * context->size);
    for (int k = 0; whole != NULL && k < numbers * context->size; k++) {
      CHECK_EQUAL(context, atoi((char*)whole + width * k),
                  1000 * (k % context->size) + k / context->size);
    }
    free(whole);
  }
  MPI_Type_free(&spaced);
  CHECK_EQUAL(context, seen.other_threads, 0);
  CHECK_EQUAL(context, seen.strange, 0);
}

// The type of a read that is under way is freed; the view is changed; then it is waited for.
static void freed_type(Context* context) {
  start();
  MPI_File file = text_file(context, "data");
  MPI_Datatype spaced;
  int mine[numbers], back[4 * numbers] = {0};
  MPI_Request request;
  for (int k = 0; k < numbers; k++) mine[k] = 1000 * context->rank + k;
  CHECK_OK(context, MPI_File_write_at_all(file, 0, mine, numbers, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Type_create_resized(MPI_INT, 0, 16, &spaced);
  MPI_Type_commit(&spaced);
  CHECK_OK(context, MPI_File_iread_at(file, 0, back, numbers, spaced, &request));
  MPI_Type_free(&spaced);
  CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int k = 0; k < numbers; k++) CHECK_EQUAL(context, back[4 * k], mine[k]);
  CHECK_EQUAL(context, seen.strange, 0);
  close_file(context, &file);
}

// An error of one rank's function is that rank's error, and the others go on.
static void failing(Context* context) {
  start();
  MPI_File file = text_file(context, "data");
  int mine = context->rank, back = -1, last = context->rank == context->size - 1;
  int error_class = last ? MPI_ERR_CONVERSION : MPI_SUCCESS;
  const int collective[] = {
      ALL, AT_ALL,          ALL | NONBLOCKING, AT_ALL | NONBLOCKING, ALL | SPLIT, AT_ALL | SPLIT,
      AT,  AT | NONBLOCKING};
  for (size_t i = 0; i < sizeof collective / sizeof *collective; i++) {
    seen.fails = last ? MPI_ERR_OTHER : MPI_SUCCESS;
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_CLASS(context,
                transfer(file, 1, collective[i], 0, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE),
                error_class);
    seen.fails = 0;
    CHECK_OK(context, MPI_File_write_at_all(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(context->comm);
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    seen.fails = last ? MPI_ERR_OTHER : MPI_SUCCESS;
    CHECK_CLASS(context,
                transfer(file, 0, collective[i], 0, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE),
                error_class);
    MPI_Barrier(context->comm);
  }
  // A view is refused on all ranks.
  seen.extent_fails = last ? MPI_ERR_OTHER : MPI_SUCCESS;
  CHECK_CLASS(context, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "text", MPI_INFO_NULL),
              MPI_ERR_CONVERSION);
  seen.fails = seen.extent_fails = 0;
  close_file(context, &file);
}

// Without a function that way's data goes as it is in memory.
static void missing_function(Context* context) {
  start();
  MPI_Register_datarep("raw reads", MPI_CONVERSION_FN_NULL, write_text, text_extent, &seen);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_set_view(file, width * context->rank, MPI_INT, MPI_INT, "raw reads",
                                      MPI_INFO_NULL));
  int mine = 1234, count = -1;
  char raw[width] = {0};
  MPI_Status status;
  CHECK_OK(context, MPI_File_write(file, &mine, 1, MPI_INT, &status));
  CHECK_OK(context, MPI_File_read_at(file, 0, raw, width / 4, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(context, count, width / 4);
  CHECK_EQUAL(context, atoi(raw), 1234);
  CHECK_EQUAL(context, seen.reads, 0);
  close_file(context, &file);
}

#if MPI_VERSION >= 4
static int write_large(void* memory, MPI_Datatype type, MPI_Count count, void* stored,
                       MPI_Offset position, void* state) {
  return write_items(memory, type, count, stored, position, state);
}
static int read_large(void* memory, MPI_Datatype type, MPI_Count count, void* stored,
                      MPI_Offset position, void* state) {
  return read_items(memory, type, count, stored, position, state);
}

static void large_counts(Context* context) {
  start();
  CHECK_OK(context, MPI_Register_datarep_c("large", read_large, write_large, text_extent, &seen));
  CHECK_CLASS(context, MPI_Register_datarep_c("large", read_large, write_large, text_extent, &seen),
              MPI_ERR_DUP_DATAREP);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_set_view(file, width * context->rank, MPI_INT, MPI_INT, "large",
                                      MPI_INFO_NULL));
  int mine = 1000 + context->rank, back = 0;
  CHECK_OK(context, MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_read_at_c(file, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, back, mine);
  CHECK_EQUAL(context, seen.reads + seen.writes, 2);
  close_file(context, &file);
}
#else
static void large_counts(Context* context) {
  (void)context;
}
#endif

const Case datarep_user_cases[] = {{"datarep_user_registering", registering},
                                   {"datarep_user_methods", every_method},
                                   {"datarep_user_freed_type", freed_type},
                                   {"datarep_user_failing", failing},
                                   {"datarep_user_missing", missing_function},
                                   {"datarep_user_large_counts", large_counts},
                                   {NULL, NULL}};
