// A tool as Darshan is one, which wraps procedures of MPI and calls others for itself: in its
// wrappers, by its own wrappers, and by functions that wrap nothing.
#include <mpi.h>

static MPI_Comm own;

static void talk(void) {
  int value = 1, sum = 0, size;
  MPI_Comm_size(own, &size);
  PMPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, own);
  MPI_Bcast(&sum, 1, MPI_INT, 0, own); /* its own wrapper */
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code != MPI_SUCCESS) return code;
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  talk();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code != MPI_SUCCESS) return code;
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  talk();
  return code;
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int size, result;
  MPI_Type_size(type, &size);
  PMPI_Comm_compare(comm, own, &result);
  return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void* in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
  return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                       comm, status);
}

int MPI_Barrier(MPI_Comm comm) {
  talk();
  return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
  talk();
  MPI_Barrier(own);
  PMPI_Comm_free(&own);
  return PMPI_Finalize();
}
