// A profiling tool as Darshan is one: it wraps MPI functions through PMPI and POSIX functions by
// being preloaded, counts, and prints its counts at MPI_Finalize.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int inits, opens, writes, reads, closes;
static int posix_opens;
static long long posix_bytes;

int MPI_Init(int* argc, char*** argv) {
  inits++;
  return PMPI_Init(argc, argv);
}

int MPI_File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* file) {
  opens++;
  return PMPI_File_open(comm, name, amode, info, file);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                          MPI_Datatype type, MPI_Status* status) {
  writes++;
  return PMPI_File_write_at_all(file, offset, buffer, count, type, status);
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count,
                         MPI_Datatype type, MPI_Status* status) {
  reads++;
  return PMPI_File_read_at_all(file, offset, buffer, count, type, status);
}

int MPI_File_close(MPI_File* file) {
  closes++;
  return PMPI_File_close(file);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "tool: rank %d init %d open %d write %d read %d close %d posix %s %s\n", rank,
          inits, opens, writes, reads, closes, posix_opens ? "opens" : "none",
          posix_bytes > 0 ? "bytes" : "none");
  return PMPI_Finalize();
}

int open64(const char* path, int flags, ...) {
  static int (*next)(const char*, int, ...);
  if (!next) next = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open64");
  va_list arguments;
  va_start(arguments, flags);
  int mode = va_arg(arguments, int);
  va_end(arguments);
  __atomic_fetch_add(&posix_opens, 1, __ATOMIC_RELAXED);
  return next(path, flags, mode);
}

ssize_t pwrite64(int descriptor, const void* buffer, size_t bytes, off64_t offset) {
  static ssize_t (*next)(int, const void*, size_t, off64_t);
  if (!next) next = (ssize_t (*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  ssize_t written = next(descriptor, buffer, bytes, offset);
  if (written > 0) __atomic_fetch_add(&posix_bytes, written, __ATOMIC_RELAXED);
  return written;
}
