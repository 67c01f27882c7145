// Reads and writes in all their forms, over kinds of memory: counts, pointers, statuses.
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "layout.h"

typedef struct {
  const char* name;
  Layout (*build)(void);
} Memory;

static Layout bytes(void) {
  return layout_basic(MPI_BYTE, 1);
}
static Layout integers(void) {
  return layout_contiguous(3, layout_basic(MPI_INT, 4));
}
// Contiguous in any number, and not at the beginning of the buffer.
static Layout shifted(void) {
  const int64_t displacement = 24;
  return layout_resized(layout_hindexed_block(1, 12, &displacement, bytes()), 24, 12);
}
static Layout shifted_back(void) {
  const int64_t displacement = -12;
  return layout_resized(layout_hindexed_block(1, 6, &displacement, bytes()), -12, 6);
}
static Layout holed(void) {
  return layout_vector(4, 3, 5, layout_basic(MPI_SHORT, 2));
}
static Layout backwards(void) {
  const int64_t displacements[] = {40, 20, 0, -24};
  return layout_resized(layout_hindexed_block(4, 9, displacements, bytes()), -24, 80);
}
static Layout reversed(void) {
  return layout_resized(layout_hvector(4, 3, -16, layout_basic(MPI_SHORT, 2)), -48, 64);
}
// Bounds set again and again, with data on both sides of them, and blocks of no length.
static Layout rebounded(void) {
  const int lengths[] = {0, 2, 0, 1, 0};
  const int64_t displacements[] = {-900, -8, 3, 16, 5000};
  Layout inner = layout_resized(layout_hindexed(5, lengths, displacements, bytes()), -4, 12);
  return layout_resized(layout_resized(layout_contiguous(2, inner), -100, 300), 8, 32);
}
static Layout mixed(void) {
  Layout members[] = {layout_basic(MPI_DOUBLE, 8), layout_basic(MPI_CHAR, 1),
                      layout_basic(MPI_INT, 4)};
  const int lengths[] = {2, 3, 1};
  const int64_t displacements[] = {0, 17, 24};
  return layout_resized(layout_struct(3, lengths, displacements, members), 0, 32);
}
static Layout block_of_cube(void) {
  const int sizes[] = {4, 5, 6}, subsizes[] = {2, 3, 4}, starts[] = {1, 1, 2};
  return layout_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, bytes());
}

static const Memory memories[] = {
    {"bytes", bytes},       {"integers", integers},   {"holed", holed}, {"backwards", backwards},
    {"reversed", reversed}, {"rebounded", rebounded}, {"mixed", mixed}, {"block", block_of_cube}};
static const Memory shifted_memories[] = {{"shifted", shifted}, {"shifted_back", shifted_back}};

// Every rank moves a different number of elements, rank 1 none at all.
static int count_of(int rank) {
  return rank == 1 ? 0 : 5 + 2 * rank;
}

static void one_call(Context* context, MPI_File file, int writing, const char* name, Layout layout,
                     int method, int large) {
  int count = count_of(context->rank);
  int64_t data = count * (int64_t)layout.bytes;
  int64_t begin = layout_begin(&layout, 0, data), end = layout_end(&layout, 0, data);
  size_t span = (size_t)(end - begin);
  unsigned char* memory = malloc(span + 1);
  unsigned char* wanted = malloc(span + 1);
  memset(memory, 0xA5, span + 1);
  memset(wanted, 0xA5, span + 1);
  for (int64_t i = 0; i < data; i++) {
    wanted[layout_place(&layout, -begin, i)] = pattern(context->rank, i);
  }
  if (writing) memcpy(memory, wanted, span);
  MPI_Offset offset = 20000 * context->rank + 10000 * large + 7;
  if (!has_offset(method)) CHECK_OK(context, MPI_File_seek(file, offset, MPI_SEEK_SET));
  MPI_Status status;
  CHECK_OK(context, transfer(file, writing, method, large, offset, memory - begin, count,
                             layout.type, &status));
  int got = -1, elements = -1;
  MPI_Offset position = -1;
  MPI_Get_count(&status, layout.type, &got);
  MPI_Get_elements(&status, MPI_BYTE, &elements);
  CHECK_EQUAL(context, got, count);
  CHECK_EQUAL(context, elements, data);
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, !has_offset(method) ? offset + data : 0);
  if (memcmp(memory, wanted, span + 1) != 0) {
    fail(context, __FILE__, __LINE__, "%s %s into %s: memory differs", writing ? "write" : "read",
         method_name(method), name);
  }
  CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
  free(wanted);
  free(memory);
}

// Calls with a datatype that is new, and with the same again; often the next has its handle.
static void all_calls(Context* context, int method, const Memory* memories, size_t count) {
  for (size_t kind = 0; kind < count; kind++) {
    char name[32] = "data.";
    strcat(name, memories[kind].name);
    const Layout layout = memories[kind].build();
    MPI_File file = open_file(context, context->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int large = 0; large < 2; large++) {
      one_call(context, file, 1, memories[kind].name, layout, method, large);
      one_call(context, file, 0, memories[kind].name, layout, method, large);
    }
    layouts_release();
    close_file(context, &file);
  }
}

#define TRANSFER_CASE(name, method)                                           \
  static void name(Context* context) {                                        \
    all_calls(context, method, memories, sizeof memories / sizeof *memories); \
  }
TRANSFER_CASE(plain, PLAIN)
TRANSFER_CASE(at, AT)
TRANSFER_CASE(all, ALL)
TRANSFER_CASE(at_all, AT_ALL)
TRANSFER_CASE(iplain, PLAIN | NONBLOCKING)
TRANSFER_CASE(iat, AT | NONBLOCKING)
TRANSFER_CASE(iall, ALL | NONBLOCKING)
TRANSFER_CASE(iat_all, AT_ALL | NONBLOCKING)
TRANSFER_CASE(split_all, ALL | SPLIT)
TRANSFER_CASE(split_at_all, AT_ALL | SPLIT)

static void shifted_all(Context* context) {
  for (int i = 0; i < OWN_PLACE_METHODS; i++) {
    all_calls(context, own_place_methods[i], shifted_memories,
              sizeof shifted_memories / sizeof *shifted_memories);
  }
}

// Absolute addresses from MPI_BOTTOM: two arrays and a number as one element.
static void from_bottom(Context* context) {
  double first[4] = {0}, second[4] = {0};
  int number[1] = {0};
  void* const places[] = {first, number, second};
  const int lengths[] = {4, 1, 4};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE}, element;
  MPI_Aint addresses[3];
  for (int i = 0; i < 3; i++) MPI_Get_address(places[i], &addresses[i]);
  MPI_Type_create_struct(3, lengths, addresses, types, &element);
  MPI_Type_commit(&element);
  for (int i = 0; i < 4; i++) {
    first[i] = context->rank + i;
    second[i] = -first[i];
  }
  number[0] = 42 + context->rank;
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_write_at_all(file, 68 * context->rank, MPI_BOTTOM, 1, element,
                                          MPI_STATUS_IGNORE));
  memset(first, 0, sizeof first);
  memset(second, 0, sizeof second);
  number[0] = 0;
  MPI_Status status;
  int count = 0;
  CHECK_OK(context,
           MPI_File_read_at_all(file, 68 * context->rank, MPI_BOTTOM, 1, element, &status));
  MPI_Get_count(&status, element, &count);
  CHECK_EQUAL(context, count, 1);
  for (int i = 0; i < 4; i++) {
    CHECK(context, first[i] == context->rank + i && second[i] == -first[i]);
  }
  CHECK_EQUAL(context, number[0], 42 + context->rank);
  MPI_Type_free(&element);
  close_file(context, &file);
}

// Nobody has anything: null buffers, and a type of no size.
static void nothing(Context* context) {
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int method = 0; method < METHOD_COUNT; method++) {
    for (int writing = 0; writing < 2; writing++) {
      MPI_Status status;
      int count = -1, dummy = 0;
      CHECK_OK(context, transfer(file, writing, method, writing, 0, NULL, 0, MPI_INT, &status));
      MPI_Get_count(&status, MPI_INT, &count);
      CHECK_EQUAL(context, count, 0);
      CHECK_OK(context, transfer(file, writing, method, 0, 0, &dummy, 3, empty, &status));
      MPI_Get_elements(&status, MPI_INT, &count);
      CHECK_EQUAL(context, count, 0);
    }
  }
  MPI_Type_free(&empty);
  MPI_Offset size = -1;
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 0);
  close_file(context, &file);
}

// Each status of a call is independent of the next, and the pointer moves by what was moved.
static void sequence(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype;
  MPI_Type_vector(1, 5, 5, MPI_INT, &filetype);
  MPI_Datatype resized;
  MPI_Type_create_resized(filetype, 0, 20 * context->size, &resized);
  MPI_Type_commit(&resized);
  CHECK_OK(context,
           MPI_File_set_view(file, 20 * context->rank, MPI_INT, resized, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  MPI_Type_free(&resized);
  int values[100];
  for (int i = 0; i < 100; i++) values[i] = context->rank * 1000 + i;
  for (int i = 0; i < 100; i += 10) {
    if (i % 20) {
      CHECK_OK(context, MPI_File_write(file, values + i, 10, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(context, MPI_File_write_all(file, values + i, 10, MPI_INT, MPI_STATUS_IGNORE));
    }
  }
  MPI_Offset position = -1;
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 100);
  CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
  for (int i = 0; i < 100; i += 25) {
    int back[25];
    CHECK_OK(context, i % 2 ? MPI_File_read(file, back, 25, MPI_INT, MPI_STATUS_IGNORE)
                            : MPI_File_read_all(file, back, 25, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(context, memcmp(back, values + i, sizeof back) == 0);
  }
  close_file(context, &file);
}

const Case transfer_cases[] = {{"transfer_plain", plain},
                               {"transfer_at", at},
                               {"transfer_all", all},
                               {"transfer_at_all", at_all},
                               {"transfer_iplain", iplain},
                               {"transfer_iat", iat},
                               {"transfer_iall", iall},
                               {"transfer_iat_all", iat_all},
                               {"transfer_split_all", split_all},
                               {"transfer_split_at_all", split_at_all},
                               {"transfer_shifted", shifted_all},
                               {"transfer_bottom", from_bottom},
                               {"transfer_nothing", nothing},
                               {"transfer_sequence", sequence},
                               {NULL, NULL}};
