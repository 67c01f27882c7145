// A tool that stands before the program's error handlers.
#include <mpi.h>
#include <stdio.h>

static MPI_File_errhandler_function* of_program;

static void see(MPI_File* file, int* code, ...) {
  printf("tool saw %s\n", *code == MPI_SUCCESS ? "no error" : "an error");
  of_program(file, code);
}

int MPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* handler) {
  of_program = function;
  return PMPI_File_create_errhandler(see, handler);
}
