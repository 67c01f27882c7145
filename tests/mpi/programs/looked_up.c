// A program that does not link MPI: it opens a library and looks the functions up in its handle, as
// ctypes, cffi and Julia do. Writes pieces of the ranks in turn and prints how Headrace says it
// wrote them.
// Usage: looked_up LIBRARY FILE [global] [large]: RTLD_GLOBAL, the functions with large counts.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { piece = 100, pieces = 1000 };

static void* handle;

static void* find(const char* name) {
  void* found = dlsym(handle, name);
  if (found == NULL) {
    fprintf(stderr, "the library has no %s\n", name);
    exit(3);
  }
  return found;
}

// The library's own: what a header makes of constants needs the library to be linked.
#ifdef OMPI_MAJOR_VERSION
#define OBJECT(type, of_open_mpi, constant) ((type)find(of_open_mpi))
#else
#define OBJECT(type, of_open_mpi, constant) (constant)
#endif
#define WORLD OBJECT(MPI_Comm, "ompi_mpi_comm_world", MPI_COMM_WORLD)
#define BYTE OBJECT(MPI_Datatype, "ompi_mpi_byte", MPI_BYTE)
#define NO_INFO OBJECT(MPI_Info, "ompi_mpi_info_null", MPI_INFO_NULL)
#define CALL(name) must(#name, ((__typeof__(&name))find(#name))
#define WITH(...) (__VA_ARGS__))

static void must(const char* what, int code) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s failed with %d\n", what, code);
  exit(4);
}

static unsigned char value(int rank, int i) {
  return (unsigned char)(1 + rank * 101 + i * 7 + i / 251);
}

static void write_pieces(MPI_File file, const unsigned char* data, int is_large) {
  MPI_Status status;
  if (!is_large) {
    CALL(MPI_File_write_all) WITH(file, data, piece * pieces, BYTE, &status);
  } else {
#if MPI_VERSION >= 4
    CALL(MPI_File_write_all_c) WITH(file, data, piece * pieces, BYTE, &status);
#endif
  }
  int moved = 0;
  CALL(MPI_Get_count) WITH(&status, BYTE, &moved);
  if (moved != piece * pieces) exit(5);
}

static void tell_how(MPI_File file) {
  MPI_Info info;
  char taken[256] = "";
  int is_there = 0;
  CALL(MPI_File_get_info) WITH(file, &info);
  CALL(MPI_Info_get) WITH(info, "headrace_write_taken", sizeof taken - 1, taken, &is_there);
  CALL(MPI_Info_free) WITH(&info);
  printf("taken: %s\n", is_there ? taken : "none");
}

static void look_at_file(const char* path, int size) {
  FILE* file = fopen(path, "rb");
  int wrong = file == NULL;
  for (int i = 0; file != NULL && i < pieces * size * piece; i++) {
    const int rank = i / piece % size, within = i / (piece * size) * piece + i % piece;
    wrong += fgetc(file) != value(rank, within);
  }
  wrong += file != NULL && fgetc(file) != EOF;
  printf("%d bytes wrong\n", wrong);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int is_global = 0, is_large = 0, rank = 0, size = 0;
  for (int i = 3; i < argc; i++) {
    is_global |= strcmp(argv[i], "global") == 0;
    is_large |= strcmp(argv[i], "large") == 0;
  }
  handle = dlopen(argv[1], RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  CALL(MPI_Init) WITH(&argc, &argv);
  CALL(MPI_Comm_rank) WITH(WORLD, &rank);
  CALL(MPI_Comm_size) WITH(WORLD, &size);
  unsigned char* data = malloc(piece * pieces);
  for (int i = 0; i < piece * pieces; i++) data[i] = value(rank, i);

  MPI_File file;
  MPI_Datatype part, spread;
  CALL(MPI_Type_contiguous) WITH(piece, BYTE, &part);
  CALL(MPI_Type_create_resized) WITH(part, 0, (MPI_Aint)piece * size, &spread);
  CALL(MPI_Type_commit) WITH(&spread);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  CALL(MPI_File_open) WITH(WORLD, argv[2], mode, NO_INFO, &file);
  CALL(MPI_File_set_view)
  WITH(file, (MPI_Offset)piece * rank, BYTE, spread, "native", NO_INFO);
  write_pieces(file, data, is_large);
  if (rank == 0) tell_how(file);
  CALL(MPI_File_close) WITH(&file);
  CALL(MPI_Type_free) WITH(&spread);
  CALL(MPI_Type_free) WITH(&part);
  CALL(MPI_Barrier) WITH(WORLD);
  if (rank == 0) look_at_file(argv[2], size);
  CALL(MPI_Finalize) WITH();
  free(data);
  return 0;
}
