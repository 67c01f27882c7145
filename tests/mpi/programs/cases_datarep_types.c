// Every predefined type in external32, against bytes written out by hand.
#include <complex.h>
#include <string.h>
#include <wchar.h>

#include "exercise.h"

enum { largest = 48 };

/// A value in memory and in external32.
typedef struct {
  MPI_Datatype type;
  const char* name;
  size_t native_size;
  unsigned char native[largest];
  size_t stored_size;
  unsigned char stored[largest];
} Sample;

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define BYTES(...) ((const unsigned char[]){__VA_ARGS__})

static Sample sample(MPI_Datatype type, const char* name, const void* native, size_t native_size,
                     const unsigned char* stored, size_t stored_size) {
  Sample made = {type, name, native_size, {0}, stored_size, {0}};
  memcpy(made.native, native, native_size);
  memcpy(made.stored, stored, stored_size);
  return made;
}

#define SAMPLE(type, c_type, value, ...)                                    \
  sample(type, #type, &(c_type){value}, sizeof(c_type), BYTES(__VA_ARGS__), \
         sizeof(BYTES(__VA_ARGS__)))

/// Not the bytes that pad a long double.
static int same_value(MPI_Datatype type, const void* one, const void* other, size_t size) {
  if (type == MPI_LONG_DOUBLE) return *(const long double*)one == *(const long double*)other;
  if (type == MPI_C_LONG_DOUBLE_COMPLEX) {
    return *(const long double complex*)one == *(const long double complex*)other;
  }
  return memcmp(one, other, size) == 0;
}

/// Writes and reads the value at a place of this rank, and looks at the bytes.
static void check_sample(Context* context, MPI_File file, const Sample* one, int number) {
  MPI_Offset place = (MPI_Offset)largest * (number * context->size + context->rank);
  MPI_Aint extent = -1;
  int size = -1;
  MPI_Type_size(one->type, &size);
  if (size != (int)one->native_size) {
    fail(context, __FILE__, __LINE__, "%s has %d bytes", one->name, size);
    return;
  }
  int code = MPI_File_set_view(file, place, one->type, one->type, "external32", MPI_INFO_NULL);
  if (!check_class(context, __FILE__, __LINE__, one->name, code, MPI_SUCCESS)) return;
  CHECK_OK(context, MPI_File_get_type_extent(file, one->type, &extent));
  if (extent != (MPI_Aint)one->stored_size) {
    fail(context, __FILE__, __LINE__, "%s: extent %ld", one->name, (long)extent);
  }
  unsigned char back[largest] __attribute__((aligned(16))), raw[largest];
  int count = -1;
  MPI_Status status;
  CHECK_OK(context, MPI_File_write_at(file, 0, (void*)one->native, 1, one->type, &status));
  MPI_Get_count(&status, one->type, &count);
  CHECK_EQUAL(context, count, 1);
  memset(back, 0x5a, sizeof back);
  CHECK_OK(context, MPI_File_read_at(file, 0, back, 1, one->type, &status));
  MPI_Get_count(&status, one->type, &count);
  CHECK_EQUAL(context, count, 1);
  if (!same_value(one->type, back, one->native, one->native_size)) {
    fail(context, __FILE__, __LINE__, "%s: read another value", one->name);
  }
  CHECK_OK(context, MPI_File_set_view(file, place, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(context,
           MPI_File_read_at(file, 0, raw, (int)one->stored_size, MPI_BYTE, MPI_STATUS_IGNORE));
  if (memcmp(raw, one->stored, one->stored_size) != 0) {
    fail(context, __FILE__, __LINE__, "%s: other bytes", one->name);
  }
}

static void check_samples(Context* context, const Sample* samples, size_t count) {
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (size_t i = 0; i < count; i++) check_sample(context, file, &samples[i], (int)i);
  close_file(context, &file);
}

static void integers(Context* context) {
  const Sample samples[] = {
      SAMPLE(MPI_BYTE, char, 7, 7),
      SAMPLE(MPI_PACKED, char, 7, 7),
      SAMPLE(MPI_CHAR, char, 'A', 'A'),
      SAMPLE(MPI_SIGNED_CHAR, signed char, -2, 0xfe),
      SAMPLE(MPI_UNSIGNED_CHAR, unsigned char, 0xfe, 0xfe),
      SAMPLE(MPI_WCHAR, wchar_t, 0x20ac, 0x20, 0xac),
      SAMPLE(MPI_SHORT, short, -2, 0xff, 0xfe),
      SAMPLE(MPI_UNSIGNED_SHORT, unsigned short, 0xf102, 0xf1, 2),
      SAMPLE(MPI_INT, int, 0x01020304, 1, 2, 3, 4),
      SAMPLE(MPI_UNSIGNED, unsigned, 0xf1020304, 0xf1, 2, 3, 4),
      SAMPLE(MPI_LONG, long, -3, 0xff, 0xff, 0xff, 0xfd),
      SAMPLE(MPI_UNSIGNED_LONG, unsigned long, 0xf1020304, 0xf1, 2, 3, 4),
      SAMPLE(MPI_LONG_LONG, long long, -3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd),
      SAMPLE(MPI_UNSIGNED_LONG_LONG, unsigned long long, 0xf102030405060708, 0xf1, 2, 3, 4, 5, 6, 7,
             8),
      SAMPLE(MPI_INT8_T, int8_t, -2, 0xfe),
      SAMPLE(MPI_INT16_T, int16_t, -2, 0xff, 0xfe),
      SAMPLE(MPI_INT32_T, int32_t, -2, 0xff, 0xff, 0xff, 0xfe),
      SAMPLE(MPI_INT64_T, int64_t, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8),
      SAMPLE(MPI_UINT8_T, uint8_t, 0xf1, 0xf1),
      SAMPLE(MPI_UINT16_T, uint16_t, 0xf102, 0xf1, 2),
      SAMPLE(MPI_UINT32_T, uint32_t, 0xf1020304, 0xf1, 2, 3, 4),
      SAMPLE(MPI_UINT64_T, uint64_t, 0xf102030405060708, 0xf1, 2, 3, 4, 5, 6, 7, 8),
      SAMPLE(MPI_AINT, MPI_Aint, -2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe),
      SAMPLE(MPI_COUNT, MPI_Count, 258, 0, 0, 0, 0, 0, 0, 1, 2),
      SAMPLE(MPI_OFFSET, MPI_Offset, 258, 0, 0, 0, 0, 0, 0, 1, 2),
      SAMPLE(MPI_C_BOOL, _Bool, 1, 1),
      SAMPLE(MPI_CHARACTER, char, 'Z', 'Z'),
      SAMPLE(MPI_INTEGER, int, -2, 0xff, 0xff, 0xff, 0xfe),
      SAMPLE(MPI_LOGICAL, int, 1, 0, 0, 0, 1),
      SAMPLE(MPI_INTEGER1, int8_t, -2, 0xfe),
      SAMPLE(MPI_INTEGER2, int16_t, -2, 0xff, 0xfe),
      SAMPLE(MPI_INTEGER4, int32_t, 0x01020304, 1, 2, 3, 4),
      SAMPLE(MPI_INTEGER8, int64_t, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8),
  };
  check_samples(context, samples, COUNT_OF(samples));
}

static void floating(Context* context) {
  const float complex small = 1.5f - 2.0f * I;
  const double complex medium = 1.5 - 2.0 * I;
  const long double complex large = 1.5L - 2.0L * I;
  const Sample samples[] = {
      SAMPLE(MPI_FLOAT, float, 1.5f, 0x3f, 0xc0, 0, 0),
      SAMPLE(MPI_DOUBLE, double, -2.0, 0xc0, 0, 0, 0, 0, 0, 0, 0),
      SAMPLE(MPI_LONG_DOUBLE, long double, -1.5L, 0xbf, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
             0, 0),
      SAMPLE(MPI_REAL, float, 1.5f, 0x3f, 0xc0, 0, 0),
      SAMPLE(MPI_DOUBLE_PRECISION, double, -2.0, 0xc0, 0, 0, 0, 0, 0, 0, 0),
      SAMPLE(MPI_REAL4, float, 1.5f, 0x3f, 0xc0, 0, 0),
      SAMPLE(MPI_REAL8, double, -2.0, 0xc0, 0, 0, 0, 0, 0, 0, 0),
      SAMPLE(MPI_C_FLOAT_COMPLEX, float complex, small, 0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0),
      SAMPLE(MPI_C_DOUBLE_COMPLEX, double complex, medium, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0,
             0, 0, 0, 0, 0),
      SAMPLE(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, large, 0x3f, 0xff, 0x80, 0, 0, 0, 0, 0,
             0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
      SAMPLE(MPI_COMPLEX, float complex, small, 0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0),
      SAMPLE(MPI_DOUBLE_COMPLEX, double complex, medium, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0,
             0, 0, 0, 0, 0),
  };
  check_samples(context, samples, COUNT_OF(samples));
}

// Two data without a gap, the long of 8 bytes as one of 4.
static void pairs(Context* context) {
  struct {
    double value;
    int index;
  } mine = {-2.0, 258}, back;
  struct {
    long value;
    int index;
  } longs[2] = {{-3, 1}, {5, 2}}, longs_back[2];
  const unsigned char expected[] = {0xc0, 0,    0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0xff, 0xff,
                                    0xff, 0xfd, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0,    2};
  unsigned char raw[sizeof expected] = {0};
  int count = -1;
  MPI_Status status;
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset place = (MPI_Offset)sizeof expected * context->rank;
  CHECK_OK(context, MPI_File_set_view(file, place, MPI_DOUBLE_INT, MPI_DOUBLE_INT, "external32",
                                      MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_write(file, &mine, 1, MPI_DOUBLE_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_read_at(file, 0, &back, 1, MPI_DOUBLE_INT, &status));
  MPI_Get_count(&status, MPI_DOUBLE_INT, &count);
  CHECK_EQUAL(context, count, 1);
  CHECK(context, back.value == mine.value && back.index == mine.index);
  CHECK_OK(context, MPI_File_set_view(file, place + 12, MPI_LONG_INT, MPI_LONG_INT, "external32",
                                      MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_write(file, longs, 2, MPI_LONG_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context, MPI_File_read_at(file, 0, longs_back, 2, MPI_LONG_INT, &status));
  CHECK(context, longs_back[1].value == 5 && longs_back[1].index == 2);
  CHECK_OK(context, MPI_File_set_view(file, place, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(context, MPI_File_read(file, raw, sizeof raw, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(context, memcmp(raw, expected, sizeof raw) == 0);
  close_file(context, &file);
}

const Case datarep_type_cases[] = {{"datarep_integers", integers},
                                   {"datarep_floating", floating},
                                   {"datarep_pairs", pairs},
                                   {NULL, NULL}};
