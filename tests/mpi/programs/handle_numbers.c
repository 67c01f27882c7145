// Prints what looked_up.py needs: predefined handles (numbers, or the library's objects), and a
// mode.
#include <mpi.h>
#include <stdio.h>

int main(void) {
#ifdef OMPI_MAJOR_VERSION
  printf("ompi_mpi_comm_world ompi_mpi_byte ompi_mpi_info_null");
#else
  printf("%ld %ld %ld", (long)MPI_COMM_WORLD, (long)MPI_BYTE, (long)MPI_INFO_NULL);
#endif
  printf(" %d\n", MPI_MODE_CREATE | MPI_MODE_RDWR);
  return 0;
}
