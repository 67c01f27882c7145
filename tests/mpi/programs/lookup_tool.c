// A profiling tool that defines procedures under both of their names and gets the library's by
// dlsym, as Darshan does: no slot of its own leads to them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void* next_of(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found) return found;
  fprintf(stderr, "lookup_tool: no %s\n", name);
  abort();
}

#define WRAP(name, parameters, arguments)                    \
  int P##name parameters {                                   \
    static int(*next) parameters;                            \
    if (!next) next = (int(*) parameters)next_of("P" #name); \
    return next arguments;                                   \
  }                                                          \
  int name parameters __attribute__((alias("P" #name)))

#define PLACE MPI_File file, MPI_Offset offset
WRAP(MPI_File_write_at_all,
     (PLACE, const void* buffer, int count, MPI_Datatype type, MPI_Status* status),
     (file, offset, buffer, count, type, status));
WRAP(MPI_File_read_at_all, (PLACE, void* buffer, int count, MPI_Datatype type, MPI_Status* status),
     (file, offset, buffer, count, type, status));
#if MPI_VERSION >= 4
WRAP(MPI_File_write_at_all_c,
     (PLACE, const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Status* status),
     (file, offset, buffer, count, type, status));
WRAP(MPI_File_read_at_all_c,
     (PLACE, void* buffer, MPI_Count count, MPI_Datatype type, MPI_Status* status),
     (file, offset, buffer, count, type, status));
WRAP(MPI_File_iwrite_at_c,
     (PLACE, const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Request* request),
     (file, offset, buffer, count, type, request));
WRAP(MPI_File_iread_at_c,
     (PLACE, void* buffer, MPI_Count count, MPI_Datatype type, MPI_Request* request),
     (file, offset, buffer, count, type, request));
#endif
