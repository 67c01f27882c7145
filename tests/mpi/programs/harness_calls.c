// Every read and write procedure behind three functions: transfer, start_transfer, and the two
// halves of a split one.
#include "harness.h"

const int own_place_methods[OWN_PLACE_METHODS] = {PLAIN,
                                                  AT,
                                                  ALL,
                                                  AT_ALL,
                                                  PLAIN | NONBLOCKING,
                                                  AT | NONBLOCKING,
                                                  ALL | NONBLOCKING,
                                                  AT_ALL | NONBLOCKING,
                                                  ALL | SPLIT,
                                                  AT_ALL | SPLIT};

// One family of procedures by its three parameters before the buffer; `large` forms end in _c.
#define BY_DIRECTION(writing, name, ...) \
  ((writing) ? MPI_File_write##name(__VA_ARGS__) : MPI_File_read##name(__VA_ARGS__))
#define BY_DIRECTION_NONBLOCKING(writing, name, ...) \
  ((writing) ? MPI_File_iwrite##name(__VA_ARGS__) : MPI_File_iread##name(__VA_ARGS__))

// The procedures with counts of `count_type`; `c` is empty or _c.
#define DEFINE_FORMS(form, c, count_type)                                                          \
  static int blocking_##form(MPI_File file, int writing, int method, MPI_Offset offset,            \
                             void* buffer, count_type count, MPI_Datatype type,                    \
                             MPI_Status* status) {                                                 \
    switch (method) {                                                                              \
      case PLAIN: return BY_DIRECTION(writing, c, file, buffer, count, type, status);              \
      case AT: return BY_DIRECTION(writing, _at##c, file, offset, buffer, count, type, status);    \
      case ALL: return BY_DIRECTION(writing, _all##c, file, buffer, count, type, status);          \
      case AT_ALL:                                                                                 \
        return BY_DIRECTION(writing, _at_all##c, file, offset, buffer, count, type, status);       \
      case SHARED: return BY_DIRECTION(writing, _shared##c, file, buffer, count, type, status);    \
      default: return BY_DIRECTION(writing, _ordered##c, file, buffer, count, type, status);       \
    }                                                                                              \
  }                                                                                                \
  static int nonblocking_##form(MPI_File file, int writing, int method, MPI_Offset offset,         \
                                void* buffer, count_type count, MPI_Datatype type,                 \
                                MPI_Request* request) {                                            \
    switch (method) {                                                                              \
      case PLAIN: return BY_DIRECTION_NONBLOCKING(writing, c, file, buffer, count, type, request); \
      case AT:                                                                                     \
        return BY_DIRECTION_NONBLOCKING(writing, _at##c, file, offset, buffer, count, type,        \
                                        request);                                                  \
      case ALL:                                                                                    \
        return BY_DIRECTION_NONBLOCKING(writing, _all##c, file, buffer, count, type, request);     \
      case AT_ALL:                                                                                 \
        return BY_DIRECTION_NONBLOCKING(writing, _at_all##c, file, offset, buffer, count, type,    \
                                        request);                                                  \
      default:                                                                                     \
        return BY_DIRECTION_NONBLOCKING(writing, _shared##c, file, buffer, count, type, request);  \
    }                                                                                              \
  }                                                                                                \
  static int beginning_##form(MPI_File file, int writing, int method, MPI_Offset offset,           \
                              void* buffer, count_type count, MPI_Datatype type) {                 \
    switch (method) {                                                                              \
      case ALL: return BY_DIRECTION(writing, _all_begin##c, file, buffer, count, type);            \
      case AT_ALL:                                                                                 \
        return BY_DIRECTION(writing, _at_all_begin##c, file, offset, buffer, count, type);         \
      default: return BY_DIRECTION(writing, _ordered_begin##c, file, buffer, count, type);         \
    }                                                                                              \
  }

DEFINE_FORMS(small, , int)
#if MPI_VERSION >= 4
DEFINE_FORMS(large, _c, MPI_Count)
#define FORM(kind, large, ...) ((large) ? kind##_large(__VA_ARGS__) : kind##_small(__VA_ARGS__))
#else
#define FORM(kind, large, ...) ((void)(large), kind##_small(__VA_ARGS__))
#endif

int start_transfer(MPI_File file, int writing, int method, int large, MPI_Offset offset,
                   void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return FORM(nonblocking, large, file, writing, method, offset, buffer, count, type, request);
}

int begin_transfer(MPI_File file, int writing, int method, int large, MPI_Offset offset,
                   void* buffer, int count, MPI_Datatype type) {
  return FORM(beginning, large, file, writing, method, offset, buffer, count, type);
}

int end_transfer(MPI_File file, int writing, int method, void* buffer, MPI_Status* status) {
  switch (method) {
    case ALL: return BY_DIRECTION(writing, _all_end, file, buffer, status);
    case AT_ALL: return BY_DIRECTION(writing, _at_all_end, file, buffer, status);
    default: return BY_DIRECTION(writing, _ordered_end, file, buffer, status);
  }
}

int transfer(MPI_File file, int writing, int method, int large, MPI_Offset offset, void* buffer,
             int count, MPI_Datatype type, MPI_Status* status) {
  int plain_method = method & ~(NONBLOCKING | SPLIT);
  if (method & NONBLOCKING) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code =
        start_transfer(file, writing, plain_method, large, offset, buffer, count, type, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, status) : code;
  }
  if (method & SPLIT) {
    int code = begin_transfer(file, writing, plain_method, large, offset, buffer, count, type);
    return code == MPI_SUCCESS ? end_transfer(file, writing, plain_method, buffer, status) : code;
  }
  return FORM(blocking, large, file, writing, method, offset, buffer, count, type, status);
}

int has_offset(int method) {
  int plain_method = method & ~(NONBLOCKING | SPLIT);
  return plain_method == AT || plain_method == AT_ALL;
}

int is_collective(int method) {
  int plain_method = method & ~(NONBLOCKING | SPLIT);
  return plain_method == ALL || plain_method == AT_ALL || plain_method == ORDERED;
}

const char* method_name(int method) {
  static const char* const names[] = {"plain", "at", "all", "at_all", "shared", "ordered"};
  static const char* const nonblocking_names[] = {"iplain", "iat", "iall", "iat_all", "ishared"};
  static const char* const split_names[] = {
      "", "", "split all", "split at_all", "", "split ordered"};
  int plain_method = method & ~(NONBLOCKING | SPLIT);
  if (method & NONBLOCKING) return nonblocking_names[plain_method];
  return method & SPLIT ? split_names[plain_method] : names[plain_method];
}
