// What procedures return when the program's error handler has changed the code.
//
//   handled_errors DIRECTORY
//
// Each line tells a call, what the handler saw, and whether the call returned an error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int rank;
static char seen[100];

static void see(const char* handler, const MPI_File* file, const int* code) {
  snprintf(seen, sizeof seen, "%s saw %s%s", handler, *file == MPI_FILE_NULL ? "no file" : "a file",
           *code == MPI_SUCCESS ? " without error" : "");
}

static void forgive(MPI_File* file, int* code, ...) {
  see("forgive", file, code);
  *code = MPI_SUCCESS;
}

static void replace(MPI_File* file, int* code, ...) {
  see("replace", file, code);
  *code = MPI_ERR_QUOTA;
}

static void keep(MPI_File* file, int* code, ...) {
  see("keep", file, code);
}

static void told(const char* call, int code) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  printf("rank %d %s: %s, returned %s\n", rank, call, seen[0] == '\0' ? "nobody saw it" : seen,
         error_class == MPI_SUCCESS     ? "no error"
         : error_class == MPI_ERR_QUOTA ? "the handler's"
                                        : "the error");
  seen[0] = '\0';
}

static void open_missing(const char* directory) {
  char path[1000];
  MPI_File file;
  snprintf(path, sizeof path, "%s/missing/data", directory);
  told("open", MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  told("delete", MPI_File_delete(path, MPI_INFO_NULL));
}

/// Calls that fail, on an open file that may not be written.
static void fail(MPI_File file) {
  char byte = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  told("write", MPI_File_write(file, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  told("write_at_all", MPI_File_write_at_all(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  told("seek", MPI_File_seek(file, -5, MPI_SEEK_SET));
  told("set_size", MPI_File_set_size(file, -1));
  const int begun = MPI_File_iwrite(file, &byte, 1, MPI_BYTE, &request);
  const int ended =
      request == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Wait(&request, MPI_STATUS_IGNORE);
  told("iwrite", begun != MPI_SUCCESS ? begun : ended);
}

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
static void see_with_state(MPI_File file, int code, void* state) {
  see(state, &file, &code);
}

static void forget_state(void* state) {
  (void)state;
}

/// The handler may have the handle of one of C that was freed.
static void use_state(MPI_File file) {
  static char name[] = "keep";
  MPI_Errhandler made;
  MPIX_File_create_errhandler_x(see_with_state, forget_state, name, &made);
  MPI_File_set_errhandler(file, made);
  MPI_Errhandler_free(&made);
  fail(file);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
}
#else
static void use_state(MPI_File file) {
  (void)file;
}
#endif

/// The handler that comes with `made` is attached to `file`, and freed where `then_free` is set.
static void handle(MPI_File file, MPI_Errhandler made, int then_free) {
  MPI_File_set_errhandler(file, made);
  if (then_free) MPI_Errhandler_free(&made);
}

static MPI_Errhandler handler_of(MPI_File_errhandler_function* function) {
  MPI_Errhandler made;
  MPI_File_create_errhandler(function, &made);
  return made;
}

/// A handler that the library's own function makes, as hosts look it up; it has the handle of one
/// that was freed.
static void use_looked_up(MPI_File file) {
  Dl_info library;
  int (*create)(MPI_File_errhandler_function*, MPI_Errhandler*) = NULL;
  MPI_Errhandler made = handler_of(replace);
  MPI_Errhandler_free(&made);
  if (dladdr((void*)MPI_Get_processor_name, &library) != 0) {
    void* const opened = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (opened) *(void**)&create = dlsym(opened, "MPI_File_create_errhandler");
  }
  if (create == NULL) {
    printf("rank %d finds no library\n", rank);
    return;
  }
  create(keep, &made);
  handle(file, made, 1);
  fail(file);
  handle(file, MPI_ERRORS_RETURN, 0);
}

int main(int argc, char** argv) {
  char path[1000];
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/data", argv[1]);
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS ||
      MPI_File_close(&file) != MPI_SUCCESS) {
    return 1;
  }
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  fail(file);  // MPI_ERRORS_RETURN
  handle(file, handler_of(forgive), 1);
  fail(file);
  handle(MPI_FILE_NULL, handler_of(keep), 1);  // perhaps with the handle that was freed
  open_missing(argv[1]);
  fail(file);
  handle(file, handler_of(replace), 1);
  fail(file);
  MPI_Errhandler made;
  PMPI_File_create_errhandler(forgive, &made);
  handle(MPI_FILE_NULL, made, 0);
  open_missing(argv[1]);
  handle(file, made, 0);
  fail(file);
  handle(file, MPI_ERRORS_RETURN, 0);
  fail(file);
  MPI_Errhandler_free(&made);
  handle(MPI_FILE_NULL, MPI_ERRORS_RETURN, 0);  // the last one that has handlers of C
  use_state(file);
  use_looked_up(file);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
