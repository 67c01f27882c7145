// Numbers that do not fit in 32 bits: offsets, extents, displacements, types, counts. The files are
// sparse and removed again; only the cases of the deep run move gigabytes.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exercise.h"

static const MPI_Offset gib = 1ll << 30;

static void remove_file(Context* context) {
  MPI_Barrier(context->comm);
  if (context->rank == 0) unlink(path_of(context, "data"));
}

// Explicit offsets and pointers beyond 4 GiB, in bytes and in larger etypes.
static void offsets(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const MPI_Offset base = 5 * gib + 3;
  int value = 10 + context->rank, seen = 0;
  MPI_Offset position = -1, size = -1;
  const int methods[] = {AT, AT_ALL, AT | NONBLOCKING, AT_ALL | NONBLOCKING, AT_ALL | SPLIT};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    MPI_Offset offset = base + (MPI_Offset)i * 1000 + 4 * context->rank;
    CHECK_OK(context,
             transfer(file, 1, methods[i], i % 2, offset, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    seen = 0;
    CHECK_OK(context,
             transfer(file, 0, methods[i], 0, offset, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(context, seen, value);
  }
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, base + 4000 + 4 * context->size);
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_seek(file, 3 * gib + context->rank, MPI_SEEK_SET));
  CHECK_OK(context, MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_get_position(file, &position));
  CHECK_EQUAL(context, position, 3 * gib + context->rank + 1);
  CHECK_OK(context, MPI_File_get_byte_offset(file, position, &size));
  CHECK_EQUAL(context, size, 8 + 4 * (3 * gib + context->rank + 1));
  CHECK_OK(context, MPI_File_seek(file, -1, MPI_SEEK_CUR));
  CHECK_OK(context, MPI_File_read(file, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, seen, value);
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_set_size(file, 7 * gib));
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 7 * gib);
  close_file(context, &file);
  remove_file(context);
}

// The pieces of one filetype lie gigabytes apart, and so do its tiles.
static void far_pieces(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int lengths[] = {3, 2, 4};
  const MPI_Aint displacements[] = {0, 3 * gib + 1, 5 * gib};
  MPI_Datatype pieces, filetype;
  MPI_Type_create_hindexed(3, lengths, displacements, MPI_BYTE, &pieces);
  MPI_Type_create_resized(pieces, 0, 6 * gib, &filetype);
  MPI_Type_commit(&filetype);
  MPI_Type_free(&pieces);
  CHECK_OK(context, MPI_File_set_view(file, 100 * context->rank, MPI_BYTE, filetype, "native",
                                      MPI_INFO_NULL));
  unsigned char out[20], in[20], byte = 0;
  fill_pattern(out, sizeof out, context->rank, 0);
  const int methods[] = {AT_ALL, AT, AT_ALL | NONBLOCKING};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    memset(in, 0, sizeof in);
    CHECK_OK(context, transfer(file, 1, methods[i], i % 2, 9 * i, out, sizeof out, MPI_BYTE,
                               MPI_STATUS_IGNORE));
    CHECK_OK(context,
             transfer(file, 0, methods[i], 0, 9 * i, in, sizeof in, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(context, memcmp(in, out, sizeof in) == 0);
    MPI_Barrier(context->comm);
  }
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  // byte 18 + 9 + 4 of the data: of the fourth tile the second piece's second byte
  CHECK_OK(context, MPI_File_read_at(file, 18 * gib + 3 * gib + 2 + 100 * context->rank, &byte, 1,
                                     MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, byte, out[13]);
  MPI_Type_free(&filetype);
  close_file(context, &file);
  remove_file(context);
}

// A subarray of an array of 36 GiB, its bytes few.
static void large_array(Context* context) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int sizes[] = {60000, 80000}, subsizes[] = {3, 2};
  const int starts[] = {59990, 79000 + 4 * context->rank};
  MPI_Datatype filetype;
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_DOUBLE, filetype, "native", MPI_INFO_NULL));
  double out[6], in[6] = {0};
  for (int i = 0; i < 6; i++) out[i] = 10.0 * context->rank + i;
  CHECK_OK(context, MPI_File_write_all(file, out, 6, MPI_DOUBLE, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_read_at_all(file, 0, in, 6, MPI_DOUBLE, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(in, out, sizeof in) == 0);
  CHECK_OK(context, MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  MPI_Offset offset = (MPI_Offset)59991 * 80000 + 79000 + 4 * context->rank;
  CHECK_OK(context, MPI_File_read_at(file, offset, in, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
  CHECK(context, in[0] == out[2]);
  MPI_Type_free(&filetype);
  close_file(context, &file);
  remove_file(context);
}

// Memory whose pieces lie 3 GiB apart: address space alone, a few pages of it used.
static void far_memory(Context* context) {
  size_t span = (size_t)(3 * gib + 4096);
  unsigned char* memory =
      mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fail(context, __FILE__, __LINE__, "no address space");
    return;
  }
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype two;
  MPI_Type_create_hvector(2, 50, 3 * gib, MPI_BYTE, &two);
  MPI_Type_commit(&two);
  unsigned char wanted[100];
  fill_pattern(wanted, 100, context->rank, 0);
  memcpy(memory, wanted, 50);
  memcpy(memory + 3 * gib, wanted + 50, 50);
  for (int method = AT; method <= AT_ALL; method += AT_ALL - AT) {
    MPI_Offset offset = 100 * (context->rank + (method == AT) * context->size);
    CHECK_OK(context, transfer(file, 1, method, 0, offset, memory, 1, two, MPI_STATUS_IGNORE));
    memset(memory, 0, 50);
    memset(memory + 3 * gib, 0, 50);
    CHECK_OK(context, transfer(file, 0, method, 1, offset, memory, 1, two, MPI_STATUS_IGNORE));
    CHECK(context, memcmp(memory, wanted, 50) == 0);
    CHECK(context, memcmp(memory + 3 * gib, wanted + 50, 50) == 0);
  }
  MPI_Type_free(&two);
  munmap(memory, span);
  close_file(context, &file);
}

// Types of more than 2 GiB and counts of more than 2^31, as far as they can be asked for where the
// file ends: what is read is what is there.
static void large_requests(Context* context) {
  size_t span = (size_t)(3 * gib);
  unsigned char* memory =
      mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fail(context, __FILE__, __LINE__, "no address space");
    return;
  }
  if (context->rank == 0) fill_file(context, "data", 5000, 'l');
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDONLY);
  MPI_Datatype mebibyte, large;
  MPI_Type_contiguous(1 << 20, MPI_BYTE, &mebibyte);
  MPI_Type_contiguous(3 << 10, mebibyte, &large);
  MPI_Type_commit(&large);
  MPI_Count bytes = -1;
  MPI_Type_size_x(large, &bytes);
  CHECK_EQUAL(context, bytes, 3 * gib);
  const int methods[] = {AT, AT_ALL, PLAIN, AT | NONBLOCKING, AT_ALL | NONBLOCKING, AT_ALL | SPLIT};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    MPI_Status status;
    bytes = -1;
    CHECK_OK(context, MPI_File_seek(file, 1000, MPI_SEEK_SET));
    CHECK_OK(context, transfer(file, 0, methods[i], 0, 1000, memory, 1, large, &status));
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    CHECK_EQUAL(context, bytes, 4000);
    CHECK_EQUAL(context, memory[3999], 'l');
    CHECK_EQUAL(context, memory[4000], 0);
  }
#if MPI_VERSION >= 4
  MPI_Status status;
  memory[0] = 0;
  CHECK_OK(context, MPI_File_read_at_c(file, 4000, memory, 3 * gib, MPI_BYTE, &status));
  MPI_Get_count_c(&status, MPI_BYTE, &bytes);
  CHECK_EQUAL(context, bytes, 1000);
  CHECK_EQUAL(context, memory[0], 'l');
  MPI_Request request;
  CHECK_OK(context, MPI_File_iread_at_all_c(file, 0, memory, 3 * gib, MPI_BYTE, &request));
  CHECK_OK(context, MPI_Wait(&request, &status));
  MPI_Get_count_c(&status, MPI_BYTE, &bytes);
  CHECK_EQUAL(context, bytes, 5000);
#endif
  MPI_Type_free(&mebibyte);
  MPI_Type_free(&large);
  munmap(memory, span);
  close_file(context, &file);
}

// Deep: 2.5 GiB in one call, one piece, read back; memory and file on this machine's memory.
static void whole_gigabytes(Context* context, int method, int as_type) {
  const MPI_Offset total = 5 * gib / 2;
  if (!context->deep) return;
  unsigned char* memory = malloc((size_t)total);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (MPI_Offset i = 0; i < total; i += 4096) memory[i] = pattern(context->rank, i);
  memory[total - 1] = 77;
  MPI_Datatype half_mebibyte, type;
  MPI_Type_contiguous(1 << 19, MPI_BYTE, &half_mebibyte);
  MPI_Type_contiguous(5 << 10, half_mebibyte, &type);
  MPI_Type_commit(&half_mebibyte);
  MPI_Type_commit(&type);
  for (int writing = 1; writing >= 0; writing--) {
    MPI_Status status;
    MPI_Count bytes = -1;
    if (!writing) memset(memory, 0, (size_t)total);
    CHECK_OK(context, transfer(file, writing, method, 1, total * context->rank, memory,
                               as_type ? 1 : 5 << 10, as_type ? type : half_mebibyte, &status));
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    CHECK_EQUAL(context, bytes, total);
  }
  MPI_Offset wrong = 0;
  for (MPI_Offset i = 0; i < total; i += 4096) wrong += memory[i] != pattern(context->rank, i);
  CHECK_EQUAL(context, wrong, 0);
  CHECK_EQUAL(context, memory[total - 1], 77);
  MPI_Type_free(&half_mebibyte);
  MPI_Type_free(&type);
  free(memory);
  close_file(context, &file);
  remove_file(context);
}

static void gigabytes_at(Context* context) {
  whole_gigabytes(context, AT, 1);
}
static void gigabytes_at_all(Context* context) {
  whole_gigabytes(context, AT_ALL, 0);
}
static void gigabytes_nonblocking(Context* context) {
  whole_gigabytes(context, AT_ALL | NONBLOCKING, 1);
}

const Case size_cases[] = {{"sizes_offsets", offsets},
                           {"sizes_far_pieces", far_pieces},
                           {"sizes_large_array", large_array},
                           {"sizes_far_memory", far_memory},
                           {"sizes_large_requests", large_requests},
                           {"sizes_gigabytes_at", gigabytes_at},
                           {"sizes_gigabytes_at_all", gigabytes_at_all},
                           {"sizes_gigabytes_nonblocking", gigabytes_nonblocking},
                           {NULL, NULL}};
