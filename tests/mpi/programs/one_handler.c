// One error handler that forgives, and what a call returns.
//
//   one_handler DIRECTORY [OBJECT]
//
// OBJECT is loaded when the file is open, and its function attaches a handler of its own.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static void forgive(MPI_File* file, int* code, ...) {
  (void)file;
  printf("forgive saw %s\n", *code == MPI_SUCCESS ? "no error" : "an error");
  *code = MPI_SUCCESS;
}

static int attach(MPI_File file) {
  MPI_Errhandler handler;
  MPI_File_create_errhandler(forgive, &handler);
  MPI_File_set_errhandler(file, handler);
  return MPI_Errhandler_free(&handler);
}

static int attach_by(const char* object, MPI_File file) {
  void* const loaded = dlopen(object, RTLD_NOW | RTLD_GLOBAL);
  void* const found = loaded == NULL ? NULL : dlsym(loaded, "attach_handler");
  if (found == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  ((void (*)(MPI_File))found)(file);
  return 0;
}

int main(int argc, char** argv) {
  char path[1000];
  MPI_File file;
  MPI_Init(&argc, &argv);
  snprintf(path, sizeof path, "%s/data", argv[1]);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  if ((argc > 2 ? attach_by(argv[2], file) : attach(file)) != MPI_SUCCESS) return 1;
  const int code = MPI_File_seek(file, -5, MPI_SEEK_SET);
  printf("seek returned %s\n", code == MPI_SUCCESS ? "no error" : "the error");
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
