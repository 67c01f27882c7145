// Calls of which a feature counts each, beside others that carry files and their requests; by way
// of objects that are loaded late, too. Usage: features DIRECTORY PLUGIN [PLUGIN IN FORTRAN]
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void must(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void exchange_with_self(int is_all) {
  int sent = 41 + rank, got = 0;
  MPI_Request requests[2];
  MPI_Irecv(&got, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &requests[1]);
  if (is_all) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  must(got == sent, "a message to oneself");
}

static void write_and_wait(MPI_File file, int place) {
  char data[100];
  memset(data, 'a' + place, sizeof data);
  MPI_Request request;
  MPI_Status status;
  int count = 0;
  MPI_File_iwrite_at(file, (MPI_Offset)(place * size + rank) * 100, data, 100, MPI_BYTE, &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  must(count == 100, "the count of a request");
  must(request == MPI_REQUEST_NULL, "a request that is done");
}

typedef int Plugin(MPI_File, const void*, int);
typedef int Sum(int, int);

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  char name[4096];
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);

  exchange_with_self(0);  // before the layer completes requests
  snprintf(name, sizeof name, "%s/features", argv[1]);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  write_and_wait(file, 0);
  exchange_with_self(0);
  exchange_with_self(1);

  // An object that is loaded when the file is open already.
  void* object = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (object == NULL) fprintf(stderr, "%s\n", dlerror());
  must(object != NULL, "the plugin");
  Sum* sum = (Sum*)dlsym(object, "plugin_sum");
  must(sum != NULL && sum(rank, 5) == size * (size - 1) / 2, "the plugin's sum");
  Plugin* plugin_write = (Plugin*)dlsym(object, "plugin_write");
  char plugged[100];
  memset(plugged, 'p', sizeof plugged);
  if (rank == 0) must(plugin_write(file, plugged, 100) == MPI_SUCCESS, "the plugin's write");

  // Who looks for the next definition is told of the one behind itself.
  must(dlsym(RTLD_NEXT, "MPI_File_open") == dlsym(RTLD_DEFAULT, "MPI_File_open"), "RTLD_NEXT");
  if (argc > 3) {
    object = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) fprintf(stderr, "%s\n", dlerror());
    must(object != NULL, "the plugin in Fortran");
    void (*barriers)(int) = (void (*)(int))dlsym(object, "plugin_barriers");
    barriers(4);
  }

  printf("rank %d: wtime %.6f wtick %.6f\n", rank, MPI_Wtime(), MPI_Wtick());
  int word = 5;
  // Ten integers, as many real ones, some on the stack.
  MPI_Pcontrol(3, "iifdpififfffffffiii", 11, -12, 1.5, 2.25e300, (void*)&word, 13, 3.5, 14, 4.5,
               5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 15, 16, 17);
  MPI_Pcontrol(4, "");
  MPI_Pcontrol(-7000, "");  // the counting ends
  for (int i = 0; i < 2; i++) MPI_Barrier(MPI_COMM_WORLD);
  write_and_wait(file, 1);
  exchange_with_self(1);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
