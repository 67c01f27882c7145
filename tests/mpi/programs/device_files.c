// Buffers in the memory of a device, given to every function that reads or writes a file. Each case
// writes, looks at the file's bytes, reads them back, and looks at the buffer and its holes.
// Usage: device_files DIRECTORY DRIVER [mixed | converted], DRIVER of device_memory.h.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device_memory.h"

enum { SEPARATE_VIEW, COMMON_VIEW };  ///< a view for each rank, or one that all share

typedef struct {
  const char* name;
  int view;
  int in_turn;  ///< the ranks call one after another, so that each one's place is known
  void (*write)(MPI_File, void*, int, MPI_Datatype, MPI_Status*);
  void (*read)(MPI_File, void*, int, MPI_Datatype, MPI_Status*);
} Method;

static int rank, size, wrong, cases;

static void fail(const char* method, const char* layout, const char* memory, const char* what) {
  wrong++;
  fprintf(stderr, "rank %d: %s, %s, %s: %s\n", rank, method, layout, memory, what);
}

// The functions, each with the same arguments.
#define PLAIN(name, call)                                                                     \
  static void name(MPI_File file, void* data, int number, MPI_Datatype type, MPI_Status* s) { \
    call;                                                                                     \
  }
#define BEGUN(name, begin)                                                                    \
  static void name(MPI_File file, void* data, int number, MPI_Datatype type, MPI_Status* s) { \
    MPI_Request request;                                                                      \
    begin;                                                                                    \
    MPI_Wait(&request, s);                                                                    \
  }
#define BOTH(form, name, write_call, read_call) \
  form(write_##name, write_call) form(read_##name, read_call)

BOTH(PLAIN, at, MPI_File_write_at(file, 0, data, number, type, s),
     MPI_File_read_at(file, 0, data, number, type, s))
BOTH(PLAIN, at_all, MPI_File_write_at_all(file, 0, data, number, type, s),
     MPI_File_read_at_all(file, 0, data, number, type, s))
BOTH(PLAIN, own, MPI_File_write(file, data, number, type, s),
     MPI_File_read(file, data, number, type, s))
BOTH(PLAIN, all, MPI_File_write_all(file, data, number, type, s),
     MPI_File_read_all(file, data, number, type, s))
BOTH(PLAIN, shared, MPI_File_write_shared(file, data, number, type, s),
     MPI_File_read_shared(file, data, number, type, s))
BOTH(PLAIN, ordered, MPI_File_write_ordered(file, data, number, type, s),
     MPI_File_read_ordered(file, data, number, type, s))
BOTH(BEGUN, iat, MPI_File_iwrite_at(file, 0, data, number, type, &request),
     MPI_File_iread_at(file, 0, data, number, type, &request))
BOTH(BEGUN, iat_all, MPI_File_iwrite_at_all(file, 0, data, number, type, &request),
     MPI_File_iread_at_all(file, 0, data, number, type, &request))
BOTH(BEGUN, iown, MPI_File_iwrite(file, data, number, type, &request),
     MPI_File_iread(file, data, number, type, &request))
BOTH(BEGUN, iall, MPI_File_iwrite_all(file, data, number, type, &request),
     MPI_File_iread_all(file, data, number, type, &request))
BOTH(BEGUN, ishared, MPI_File_iwrite_shared(file, data, number, type, &request),
     MPI_File_iread_shared(file, data, number, type, &request))
BOTH(PLAIN, split_at, MPI_File_write_at_all_begin(file, 0, data, number, type);
     MPI_File_write_at_all_end(file, data, s),
     MPI_File_read_at_all_begin(file, 0, data, number, type);
     MPI_File_read_at_all_end(file, data, s))
BOTH(PLAIN, split, MPI_File_write_all_begin(file, data, number, type);
     MPI_File_write_all_end(file, data, s), MPI_File_read_all_begin(file, data, number, type);
     MPI_File_read_all_end(file, data, s))
BOTH(PLAIN, split_ordered, MPI_File_write_ordered_begin(file, data, number, type);
     MPI_File_write_ordered_end(file, data, s),
     MPI_File_read_ordered_begin(file, data, number, type);
     MPI_File_read_ordered_end(file, data, s))

#define METHOD(name, view, in_turn) {#name, view, in_turn, write_##name, read_##name}
static const Method methods[] = {
    METHOD(at, SEPARATE_VIEW, 0),       METHOD(at_all, SEPARATE_VIEW, 0),
    METHOD(own, SEPARATE_VIEW, 0),      METHOD(all, SEPARATE_VIEW, 0),
    METHOD(iat, SEPARATE_VIEW, 0),      METHOD(iat_all, SEPARATE_VIEW, 0),
    METHOD(iown, SEPARATE_VIEW, 0),     METHOD(iall, SEPARATE_VIEW, 0),
    METHOD(split_at, SEPARATE_VIEW, 0), METHOD(split, SEPARATE_VIEW, 0),
    METHOD(shared, COMMON_VIEW, 1),     METHOD(ishared, COMMON_VIEW, 1),
    METHOD(ordered, COMMON_VIEW, 0),    METHOD(split_ordered, COMMON_VIEW, 0),
};
enum { method_count = sizeof methods / sizeof *methods, piece = 1000 };

/// What of a buffer is data: the type, how often, and a map of its bytes in the data's order.
typedef struct {
  const char* name;
  MPI_Datatype type;
  int number;
  size_t extent;  ///< bytes of the buffer
  size_t bytes;   ///< of data
  size_t* place;  ///< of each byte of data
} Layout;

static Layout contiguous(const char* name, int integers) {
  Layout made = {name, MPI_INT, integers, 4 * (size_t)integers, 4 * (size_t)integers, NULL};
  made.place = malloc(made.bytes * sizeof(size_t));
  for (size_t i = 0; i < made.bytes; i++) made.place[i] = i;
  return made;
}

// Blocks of `len` integers, `stride` apart.
static Layout rows(const char* name, int blocks, int len, int stride) {
  Layout made = {name, MPI_INT, 1, 4 * (size_t)blocks * (size_t)stride, 0, NULL};
  MPI_Type_vector(blocks, len, stride, MPI_INT, &made.type);
  MPI_Type_commit(&made.type);
  made.place = malloc(4 * (size_t)blocks * (size_t)len * sizeof(size_t));
  for (int block = 0; block < blocks; block++) {
    for (int i = 0; i < 4 * len; i++) {
      made.place[made.bytes++] = 4 * (size_t)block * (size_t)stride + (size_t)i;
    }
  }
  return made;
}

// Pieces of all lengths at no regular distance.
static Layout uneven(const char* name, int blocks) {
  int* lens = malloc((size_t)blocks * sizeof(int));
  int* begins = malloc((size_t)blocks * sizeof(int));
  Layout made = {name, MPI_INT, 1, 0, 0, NULL};
  made.place = malloc(4 * 7 * (size_t)blocks * sizeof(size_t));
  int at = 1;
  for (int i = 0; i < blocks; i++) {
    lens[i] = 1 + i * 5 % 7;
    begins[i] = at;
    for (int b = 0; b < 4 * lens[i]; b++) made.place[made.bytes++] = 4 * (size_t)at + (size_t)b;
    at += lens[i] + 1 + i * 3 % 4;
  }
  made.extent = 4 * (size_t)at;
  MPI_Type_indexed(blocks, lens, begins, MPI_INT, &made.type);
  MPI_Type_commit(&made.type);
  free(lens);
  free(begins);
  return made;
}

static void drop(Layout* layout) {
  if (layout->type != MPI_INT) MPI_Type_free(&layout->type);
  free(layout->place);
}

static unsigned char value(int of_rank, size_t i, int round) {
  return (unsigned char)((i * 7 + i / 251 * 13 + (size_t)of_rank * 101 + (size_t)round * 31) | 1);
}

static void set_view(MPI_File file, const Method* method, const Layout* layout, int strided,
                     const char* representation) {
  if (method->view == COMMON_VIEW) {
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, representation, MPI_INFO_NULL);
  } else if (strided) {
    // Pieces of the ranks one after another.
    MPI_Datatype part, spread;
    MPI_Type_contiguous(piece, MPI_INT, &part);
    MPI_Type_create_resized(part, 0, (MPI_Aint)4 * piece * size, &spread);
    MPI_Type_commit(&spread);
    MPI_File_set_view(file, (MPI_Offset)4 * piece * rank, MPI_INT, spread, representation,
                      MPI_INFO_NULL);
    MPI_Type_free(&spread);
    MPI_Type_free(&part);
  } else {
    MPI_File_set_view(file, (MPI_Offset)layout->bytes * rank, MPI_INT, MPI_INT, representation,
                      MPI_INFO_NULL);
  }
}

static size_t place_in_file(const Method* method, const Layout* layout, int strided, int of_rank,
                            size_t i) {
  if (method->view == COMMON_VIEW || !strided) return layout->bytes * (size_t)of_rank + i;
  const size_t len = 4 * piece;
  return (i / len * (size_t)size + (size_t)of_rank) * len + i % len;
}

static void call(const Method* method, int writes, MPI_File file, void* data, const Layout* layout,
                 MPI_Status* status) {
  for (int turn = 0; turn < (method->in_turn ? size : 1); turn++) {
    if (!method->in_turn || turn == rank) {
      (writes ? method->write : method->read)(file, data, layout->number, layout->type, status);
    }
    if (method->in_turn) MPI_Barrier(MPI_COMM_WORLD);
  }
}

static int moved_all(MPI_Status* status, const Layout* layout) {
  int bytes = -1;
  MPI_Get_elements(status, MPI_BYTE, &bytes);
  int integers = -1;
  MPI_Get_elements(status, MPI_INT, &integers);
  return bytes == (int)layout->bytes || integers == (int)(layout->bytes / 4);
}

static void look_at_file(const char* path, const Method* method, const Layout* layout, int strided,
                         const char* memory, int round) {
  FILE* file = fopen(path, "rb");
  check(file != NULL, "open the file by fopen");
  const size_t most = layout->bytes * (size_t)size + 4 * piece * (size_t)size;
  unsigned char* bytes = malloc(most);
  const size_t found = fread(bytes, 1, most, file);
  fclose(file);
  size_t end = 0;
  int bad = 0;
  for (int r = 0; r < size; r++) {
    for (size_t i = 0; i < layout->bytes; i++) {
      const size_t place = place_in_file(method, layout, strided, r, i);
      if (place >= end) end = place + 1;
      bad += place >= found || bytes[place] != value(r, i, round);
    }
  }
  if (bad) fail(method->name, layout->name, memory, "the file has other bytes");
  if (found != end) fail(method->name, layout->name, memory, "the file has another size");
  free(bytes);
}

static void look_at_buffer(const unsigned char* bytes, const Method* method, const Layout* layout,
                           const char* memory, int round) {
  int bad = 0, touched = 0;
  unsigned char* is_data = calloc(layout->extent, 1);
  for (size_t i = 0; i < layout->bytes; i++) {
    is_data[layout->place[i]] = 1;
    bad += bytes[layout->place[i]] != value(rank, i, round);
  }
  for (size_t i = 0; i < layout->extent; i++) touched += !is_data[i] && bytes[i] != 0xEE;
  if (bad) fail(method->name, layout->name, memory, "other bytes were read");
  if (touched) fail(method->name, layout->name, memory, "a hole of the buffer was touched");
  free(is_data);
}

static void round_trip(const char* path, const Method* method, const Layout* layout, int strided,
                       int kind, const char* representation) {
  const char* memory = kind_name(kind);
  const int round = ++cases, is_native = strcmp(representation, "native") == 0;
  unsigned char* host = malloc(layout->extent);
  unsigned char* data = device_allocate(kind, layout->extent);
  check(host != NULL && data != NULL, "get memory");
  memset(host, 0xEE, layout->extent);
  for (size_t i = 0; i < layout->bytes; i++) host[layout->place[i]] = value(rank, i, round);
  device_put(kind, data, host, layout->extent);

  MPI_File file;
  if (rank == 0) remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  set_view(file, method, layout, strided, representation);
  MPI_Status status;
  call(method, 1, file, data, layout, &status);
  if (!moved_all(&status, layout)) fail(method->name, layout->name, memory, "a false count");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && is_native) look_at_file(path, method, layout, strided, memory, round);

  memset(host, 0xEE, layout->extent);
  device_put(kind, data, host, layout->extent);
  set_view(file, method, layout, strided, representation);
  call(method, 0, file, data, layout, &status);
  if (!moved_all(&status, layout)) fail(method->name, layout->name, memory, "a false count read");
  device_get(kind, host, data, layout->extent);
  look_at_buffer(host, method, layout, memory, round);
  MPI_File_close(&file);
  device_free(kind, data);
  free(host);
}

static void every_function(const char* path, int mixed) {
  Layout layouts[] = {contiguous("one integer", 1), contiguous("2.5 MiB", (5 << 17) + 3),
                      rows("rows", 4000, 3, 5), uneven("uneven pieces", 300),
                      contiguous("nothing", 0)};
  for (int m = 0; m < method_count; m++) {
    for (int l = 0; l < 5; l++) {
      for (int strided = 0; strided < 2; strided++) {
        if (strided && methods[m].view == COMMON_VIEW) continue;
        const int kind = mixed && rank % 2 ? KIND_HOST : KIND_DEVICE;
        round_trip(path, &methods[m], &layouts[l], strided, kind, "native");
      }
    }
    for (int kind = KIND_MANAGED; !mixed && kind <= KIND_POOLED; kind++) {
      if (!device_has(kind)) continue;
      round_trip(path, &methods[m], &layouts[2], 0, kind, "native");
    }
  }
  for (int l = 0; l < 5; l++) drop(&layouts[l]);
}

static void converted(const char* path) {
  Layout layouts[] = {contiguous("400 KB", 100003), rows("rows", 400, 3, 5)};
  for (int m = 0; m < method_count; m++) {
    for (int l = 0; l < 2; l++) {
      round_trip(path, &methods[m], &layouts[l], 0, KIND_DEVICE, "external32");
    }
  }
  for (int l = 0; l < 2; l++) drop(&layouts[l]);
}

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc > 2, "run without DIRECTORY and DRIVER");
  const char* what = argc > 3 ? argv[3] : "";
  char path[4096];
  snprintf(path, sizeof path, "%s/data", argv[1]);
  check(device_open(argv[2]), "open the driver");
  if (strcmp(what, "converted") == 0) {
    converted(path);
  } else {
    every_function(path, strcmp(what, "mixed") == 0);
  }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d cases, %d wrong\n", cases, all);
  MPI_Finalize();
  return all != 0;
}
