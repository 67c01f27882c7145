// The representation external32 in use: every kind of access, derived types in memory and in the
// file, counts and positions. (What each predefined type looks like: cases_datarep_types.c.)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "layout.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/// The long of 4 bytes at `bytes`.
static long stored_long(const unsigned char* bytes) {
  return (int)((unsigned)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
}

enum { per_rank = 6 };

static long value_of(int rank, int number) {
  return (number % 2 ? -1 : 1) * (100000L * (rank + 1) + number);
}

// Each rank's longs are every size-th of the file; displacements scale with the long's 4 bytes.
static MPI_File interleaved_file(Context* context, const char* name) {
  MPI_File file = open_file(context, context->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype;
  int sizes[] = {context->size}, subsizes[] = {1}, starts[] = {context->rank};
  MPI_Type_create_subarray(1, sizes, subsizes, starts, MPI_ORDER_C, MPI_LONG, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(context, MPI_File_set_view(file, 3, MPI_LONG, filetype, "external32", MPI_INFO_NULL));
  MPI_Aint extent = -1;
  CHECK_OK(context, MPI_File_get_type_extent(file, filetype, &extent));
  CHECK_EQUAL(context, extent, 4 * context->size);
  MPI_Type_free(&filetype);
  return file;
}

// By every method, from and to memory with gaps.
static void all_methods(Context* context) {
  MPI_Datatype spaced;
  MPI_Type_create_resized(MPI_LONG, 0, 16, &spaced);
  MPI_Type_commit(&spaced);
  for (size_t i = 0; i < OWN_PLACE_METHODS; i++) {
    MPI_File file = interleaved_file(context, method_name(own_place_methods[i]));
    long mine[2 * per_rank], back[2 * per_rank];
    MPI_Offset offset = -1;
    MPI_Status status;
    int count = -1, large = (int)i % 2;
    for (int k = 0; k < 2 * per_rank; k++) mine[k] = k % 2 ? -77 : value_of(context->rank, k / 2);
    CHECK_OK(context,
             transfer(file, 1, own_place_methods[i], large, 0, mine, per_rank, spaced, &status));
    MPI_Get_count(&status, spaced, &count);
    CHECK_EQUAL(context, count, per_rank);
    CHECK_OK(context, MPI_File_get_position(file, &offset));
    CHECK_EQUAL(context, offset, has_offset(own_place_methods[i]) ? 0 : per_rank);
    CHECK_OK(context, MPI_File_get_byte_offset(file, 2, &offset));
    CHECK_EQUAL(context, offset, 3 + 4 * (2 * context->size + context->rank));
    MPI_Barrier(context->comm);
    memset(back, 0, sizeof back);
    CHECK_OK(context, MPI_File_seek(file, 1, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, own_place_methods[i], large, 1, back, per_rank - 1, spaced,
                               &status));
    MPI_Get_count(&status, spaced, &count);
    CHECK_EQUAL(context, count, per_rank - 1);
    for (int k = 0; k + 1 < per_rank; k++) {
      CHECK_EQUAL(context, back[2 * k], mine[2 * k + 2]);
      CHECK_EQUAL(context, back[2 * k + 1], 0);
    }
    close_file(context, &file);
    size_t bytes = 0;
    unsigned char* whole = read_whole(path_of(context, method_name(own_place_methods[i])), &bytes);
    CHECK_EQUAL(context, bytes, 3 + 4 * per_rank * context->size);
    for (int k = 0; whole != NULL && k < per_rank * context->size; k++) {
      CHECK_EQUAL(context, stored_long(whole + 3 + 4 * k),
                  value_of(k % context->size, k / context->size));
    }
    free(whole);
  }
  MPI_Type_free(&spaced);
}

// The shared pointer counts etypes of the file's size.
static void shared_pointer(Context* context) {
  const int shared[] = {SHARED, SHARED | NONBLOCKING, ORDERED, ORDERED | SPLIT};
  for (size_t i = 0; i < COUNT_OF(shared); i++) {
    MPI_File file =
        open_file(context, context->comm, method_name(shared[i]), MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_OK(context, MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    long mine[] = {value_of(context->rank, 0), value_of(context->rank, 1)}, back[2] = {0};
    MPI_Offset offset = -1;
    CHECK_OK(context, transfer(file, 1, shared[i], 0, 0, mine, 2, MPI_LONG, MPI_STATUS_IGNORE));
    MPI_Barrier(context->comm);
    CHECK_OK(context, MPI_File_get_position_shared(file, &offset));
    CHECK_EQUAL(context, offset, 2 * context->size);
    MPI_Barrier(context->comm);
    CHECK_OK(context, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, shared[i], 0, 0, back, 2, MPI_LONG, MPI_STATUS_IGNORE));
    int writer = (int)(back[0] / 100000) - 1;  // where the order is anybody's
    if (is_collective(shared[i])) CHECK_EQUAL(context, writer, context->rank);
    CHECK_EQUAL(context, back[0], value_of(writer, 0));
    CHECK_EQUAL(context, back[1], value_of(writer, 1));
    close_file(context, &file);
  }
}

// The file ends within a datum: whole data count, and nothing else of memory is touched.
static void short_reads(Context* context) {
  if (context->rank == 0) {
    unsigned char bytes[14] = {0, 0, 0, 1, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    FILE* stream = fopen(path_of(context, "data"), "w");
    if (stream != NULL) fwrite(bytes, 1, sizeof bytes, stream);
    if (stream != NULL) fclose(stream);
  }
  MPI_Barrier(context->comm);
  struct {
    long number;
    double value;
  } back[3];
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_LONG, MPI_DOUBLE};
  MPI_Datatype both, two;
  MPI_Type_contiguous(2, MPI_LONG, &two);
  MPI_Type_commit(&two);
  MPI_Type_create_struct(2, lengths, places, types, &both);
  MPI_Type_commit(&both);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
  for (size_t i = 0; i < OWN_PLACE_METHODS; i++) {
    MPI_Status status;
    int elements = -1, count = -1;
    memset(back, 0x11, sizeof back);
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(context,
             transfer(file, 0, own_place_methods[i], (int)i % 2, 0, back, 3, both, &status));
    MPI_Get_count(&status, both, &count);
    CHECK_EQUAL(context, count, 1);
    CHECK(context, back[0].number == 1 && back[0].value == 2.0);
    for (size_t k = sizeof *back; k < sizeof back; k++) {
      CHECK_EQUAL(context, ((unsigned char*)back)[k], 0x11);
    }
    // Three longs and half of one.
    CHECK_OK(context, MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(context,
             transfer(file, 0, own_place_methods[i], (int)i % 2, 0, back, 2, two, &status));
    MPI_Get_elements(&status, two, &elements);
    CHECK_EQUAL(context, elements, 3);
    MPI_Get_count(&status, two, &count);
    CHECK_EQUAL(context, count, MPI_UNDEFINED);
    CHECK_EQUAL(context, ((long*)back)[0], 1);
    CHECK_EQUAL(context, ((long*)back)[3], 0x1111111111111111);
  }
  close_file(context, &file);
  MPI_Type_free(&both);
  MPI_Type_free(&two);
}

// Every constructor in memory: data order is that of the type map.
static void memory_types(Context* context) {
  const int lengths[] = {2, 0, 1}, places[] = {5, 1, 0}, sizes[] = {4, 5}, part[] = {2, 3},
            starts[] = {1, 2}, kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
            arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 1};
  const int64_t bytes[] = {24, 0, -8};
  Layout integer = layout_basic(MPI_INT, 4);
  Layout several[] = {integer, layout_vector(2, 1, 3, integer), layout_contiguous(1, integer)};
  const Layout layouts[] = {
      layout_contiguous(3, integer),
      layout_vector(3, 2, 4, integer),
      layout_vector(3, 1, -2, integer),
      layout_hvector(2, 2, 20, integer),
      layout_indexed(3, lengths, places, integer),
      layout_hindexed(3, lengths, bytes, integer),
      layout_indexed_block(3, 1, places, integer),
      layout_hindexed_block(2, 1, bytes, integer),
      layout_resized(integer, -4, 12),
      layout_struct(3, lengths, bytes, several),
      layout_subarray(2, sizes, part, starts, MPI_ORDER_FORTRAN, integer),
      layout_darray(2, 1, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, integer),
      layout_dup(layout_vector(2, 1, 2, layout_contiguous(2, integer))),
  };
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset room = 4096;
  CHECK_OK(context, MPI_File_set_view(file, room * context->rank, MPI_INT, MPI_INT, "external32",
                                      MPI_INFO_NULL));
  for (size_t i = 0; i < COUNT_OF(layouts); i++) {
    enum { repeats = 3, space = 4096 };
    static unsigned char memory[space] __attribute__((aligned(8))), back[space], wanted[space];
    unsigned char stored[repeats * 200];
    int64_t total = (int64_t)(repeats * layouts[i].bytes), middle = space / 2;
    fill_pattern(memory, space, context->rank, (int64_t)i);
    memset(back, 0, space);
    memset(wanted, 0, space);
    CHECK_OK(context, MPI_File_write_at(file, 0, memory + middle, repeats, layouts[i].type,
                                        MPI_STATUS_IGNORE));
    CHECK_OK(context,
             MPI_File_read_at(file, 0, back + middle, repeats, layouts[i].type, MPI_STATUS_IGNORE));
    for (int64_t k = 0; k < total; k++) {
      int64_t place = layout_place(&layouts[i], middle, k);
      wanted[place] = memory[place];
    }
    if (memcmp(back, wanted, space) != 0) {
      fail(context, __FILE__, __LINE__, "layout %d is read wrongly", (int)i);
    }
    CHECK_OK(context, MPI_File_read_at(file, 0, stored, (int)total, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int64_t k = 0; k < total; k++) {
      CHECK_EQUAL(context, stored[k ^ 3], memory[layout_place(&layouts[i], middle, k)]);
    }
  }
  close_file(context, &file);
  layouts_release();
}

// Displacements in extents scale, those in bytes stand.
static void file_types(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype types[6];
  const int lengths[] = {1, 1}, places[] = {0, 3};
  const MPI_Aint bytes[] = {0, 24};
  const MPI_Datatype members[] = {MPI_LONG, MPI_DOUBLE};
  MPI_Type_contiguous(5, MPI_LONG, &types[0]);
  MPI_Type_vector(2, 1, 3, MPI_LONG, &types[1]);
  MPI_Type_create_hvector(2, 1, 24, MPI_LONG, &types[2]);
  MPI_Type_indexed(2, lengths, places, MPI_LONG, &types[3]);
  MPI_Type_create_struct(2, lengths, bytes, members, &types[4]);
  MPI_Type_create_resized(MPI_LONG, 0, 24, &types[5]);
  const MPI_Aint extents[] = {20, 16, 28, 16, 32, 24}, native[] = {40, 32, 32, 32, 32, 24};
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    MPI_Aint extent = -1;
    CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_get_type_extent(file, types[i], &extent));
    CHECK_EQUAL(context, extent, native[i]);
    CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_get_type_extent(file, types[i], &extent));
    CHECK_EQUAL(context, extent, extents[i]);
  }
  MPI_Type_commit(&types[1]);
  MPI_Type_commit(&types[2]);
  const MPI_Offset second[] = {12, 24};
  for (int i = 0; i < 2; i++) {
    MPI_Offset offset = -1;
    CHECK_OK(context,
             MPI_File_set_view(file, 100, MPI_LONG, types[1 + i], "external32", MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_get_byte_offset(file, 1, &offset));
    CHECK_EQUAL(context, offset, 100 + second[i]);
    CHECK_OK(context, MPI_File_get_byte_offset(file, 2, &offset));
    CHECK_EQUAL(context, offset, 100 + extents[1 + i]);
  }
#if defined(MPI_UB) && !defined(OPEN_MPI)  // which defines it only to say that it is gone
  const int once[] = {1, 1};
  const MPI_Aint ends[] = {0, 40};
  const MPI_Datatype marked[] = {MPI_LONG, MPI_UB};
  MPI_Datatype bounded = MPI_DATATYPE_NULL;
  MPI_Aint extent = -1;
  CHECK_OK(context, MPI_Type_create_struct(2, once, ends, marked, &bounded));
  CHECK_CLASS(context, MPI_File_get_type_extent(file, bounded, &extent), MPI_ERR_TYPE);
  MPI_Type_free(&bounded);
#endif
  for (size_t i = 0; i < COUNT_OF(types); i++) MPI_Type_free(&types[i]);
  close_file(context, &file);
}

// A value that does not fit is an error of its rank, and none of that rank's data is written.
static void overflow(Context* context) {
  MPI_File file = interleaved_file(context, "data");
  int last = context->rank == context->size - 1;
  long mine[] = {value_of(context->rank, 0), last ? 1L << 40 : value_of(context->rank, 1)};
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(context, MPI_File_write_at_all(file, 0, mine, 2, MPI_LONG, MPI_STATUS_IGNORE),
              last ? MPI_ERR_CONVERSION : MPI_SUCCESS);
  CHECK_CLASS(context, MPI_File_write_at(file, 0, mine, 2, MPI_LONG, MPI_STATUS_IGNORE),
              last ? MPI_ERR_CONVERSION : MPI_SUCCESS);
  CHECK_CLASS(context, MPI_File_iwrite_at(file, 0, mine, 2, MPI_LONG, &request),
              last ? MPI_ERR_CONVERSION : MPI_SUCCESS);
  if (request != MPI_REQUEST_NULL) CHECK_OK(context, MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_CLASS(context, MPI_File_write_at_all_begin(file, 0, mine, 2, MPI_LONG),
              last ? MPI_ERR_CONVERSION : MPI_SUCCESS);
  if (!last) CHECK_OK(context, MPI_File_write_at_all_end(file, mine, MPI_STATUS_IGNORE));
  close_file(context, &file);
  MPI_Barrier(context->comm);
  size_t bytes = 0;
  unsigned char* whole = read_whole(path_of(context, "data"), &bytes);
  CHECK_EQUAL(context, bytes, context->size == 1 ? 0 : 3 + 4 * (2 * context->size - 1));
  free(whole);
}

static void nothing_to_do(Context* context) {
  MPI_File file = interleaved_file(context, "data");
  int busy = context->rank % 2 == 0, count = -1;
  long mine = value_of(context->rank, 0), back = 0;
  MPI_Status status;
  CHECK_OK(context, MPI_File_write_all(file, busy ? &mine : NULL, busy, MPI_LONG, &status));
  MPI_Get_count(&status, MPI_LONG, &count);
  CHECK_EQUAL(context, count, busy);
  CHECK_OK(context, MPI_File_write(file, NULL, 0, MPI_LONG, &status));
  CHECK_OK(context, MPI_File_read_at_all(file, 0, busy ? &back : NULL, busy, MPI_LONG, &status));
  CHECK_EQUAL(context, back, busy ? mine : 0);
  CHECK_OK(context, MPI_File_read_at(file, 1000, &back, 1, MPI_LONG, &status));
  MPI_Get_count(&status, MPI_LONG, &count);
  CHECK_EQUAL(context, count, 0);
  close_file(context, &file);
}

// internal is native here; the view is given back as it was set, names in capitals, which ROMIO and
// OMPIO take in part, in small letters.
static void names(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const char* const known[] = {"native", "internal", "external32"};
  const char* const capitals[] = {"NATIVE", "INTERNAL", "EXTERNAL32"};
  for (size_t i = 0; i < COUNT_OF(known); i++) {
    // Some ranks as it stands, some in capitals: one representation for all.
    const char* spelling = context->layered && context->rank % 2 ? capitals[i] : known[i];
    char name[MPI_MAX_DATAREP_STRING + 1];
    MPI_Datatype etype, filetype;
    MPI_Offset displacement;
    long mine = 5, back = 0;
    CHECK_OK(context, MPI_File_set_view(file, 8, MPI_LONG, MPI_LONG, spelling, MPI_INFO_NULL));
    CHECK_OK(context, MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    CHECK(context, strcmp(name, known[i]) == 0 && etype == MPI_LONG);
    CHECK_OK(context,
             MPI_File_write_at(file, context->rank, &mine, 1, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK_OK(context, MPI_File_read_at(file, context->rank, &back, 1, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, back, 5);
    MPI_Barrier(context->comm);
  }
  CHECK_CLASS(context, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "External32", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  close_file(context, &file);
}

const Case datarep_cases[] = {{"datarep_methods", all_methods},
                              {"datarep_shared", shared_pointer},
                              {"datarep_short", short_reads},
                              {"datarep_memory", memory_types},
                              {"datarep_filetypes", file_types},
                              {"datarep_overflow", overflow},
                              {"datarep_nothing", nothing_to_do},
                              {"datarep_names", names},
                              {NULL, NULL}};
