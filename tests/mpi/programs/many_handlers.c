// More error handlers than the layer watches: each is called, and the code that most leave is
// returned where the library does that.
//
//   many_handlers DIRECTORY
#include <mpi.h>
#include <stdio.h>

static int called = -1;

#define HANDLER(number)                                          \
  static void handler_##number(MPI_File* file, int* code, ...) { \
    (void)file;                                                  \
    called = 0x##number;                                         \
    *code = MPI_SUCCESS;                                         \
  }
#define NAME(number) handler_##number,
// clang-format would lay these out anew at each run.
// clang-format off
#define SIXTEEN(one, digits) \
  one(digits##0) one(digits##1) one(digits##2) one(digits##3) \
  one(digits##4) one(digits##5) one(digits##6) one(digits##7) \
  one(digits##8) one(digits##9) one(digits##a) one(digits##b) \
  one(digits##c) one(digits##d) one(digits##e) one(digits##f)
#define ALL(one) \
  SIXTEEN(one, 0) SIXTEEN(one, 1) SIXTEEN(one, 2) SIXTEEN(one, 3) SIXTEEN(one, 4) SIXTEEN(one, 5) \
  SIXTEEN(one, 6) SIXTEEN(one, 7) SIXTEEN(one, 8) SIXTEEN(one, 9) SIXTEEN(one, a) SIXTEEN(one, b) \
  SIXTEEN(one, c) SIXTEEN(one, d) SIXTEEN(one, e) SIXTEEN(one, f) SIXTEEN(one, 10) SIXTEEN(one, 11)
// clang-format on

ALL(HANDLER)
static MPI_File_errhandler_function* const functions[] = {ALL(NAME)};

int main(int argc, char** argv) {
  enum { count = sizeof functions / sizeof functions[0] };
  char path[1000];
  MPI_File file;
  int right = 0, forgiven = 0;
  MPI_Init(&argc, &argv);
  snprintf(path, sizeof path, "%s/data", argv[1]);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  for (int turn = 0; turn < 2 * count; turn++) {
    MPI_Errhandler handler;
    MPI_File_create_errhandler(functions[turn % count], &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
    forgiven += MPI_File_seek(file, -5, MPI_SEEK_SET) == MPI_SUCCESS;
    right += called == turn % count;
  }
  printf("%d of %d right, %d forgiven\n", right, 2 * count, forgiven);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
