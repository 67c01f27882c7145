/* The same dataset by HDF5's driver for POSIX files, on rank 0, and by its driver for MPI-IO. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#define MOST 100000

static double values[MOST];

static int write_file(const char* name, hid_t access) {
  hsize_t size = MOST;
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t data =
      H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int failed = H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
  H5Dclose(data);
  H5Sclose(space);
  return failed || H5Fclose(file) < 0;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  char name[4096];
  snprintf(name, sizeof name, "%s/by-posix.h5", words[1]);
  int failed = write_file(name, H5P_DEFAULT);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  snprintf(name, sizeof name, "%s/by-mpi.h5", words[1]);
  failed |= write_file(name, access);
  H5Pclose(access);
  MPI_Finalize();
  return failed;
}
