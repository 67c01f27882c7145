// Writes a netCDF-4 file by several ranks through the netCDF library, for netcdf_check.py.
// usage: netcdf_write FILE

#include <netcdf.h>
#include <netcdf_par.h>

#include "check.h"

enum { kRows = 6, kColumns = 29, kRecords = 4 };

int main(int argc, char** argv) {
  int rank, size, file, dimensions[3], plane, records, number = 4711;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int mode = NC_NETCDF4 | NC_MPIIO | NC_CLOBBER;
  CHECK(nc_create_par(argv[1], mode, MPI_COMM_WORLD, MPI_INFO_NULL, &file) == NC_NOERR);
  CHECK(nc_def_dim(file, "record", NC_UNLIMITED, &dimensions[0]) == NC_NOERR);
  CHECK(nc_def_dim(file, "row", (size_t)(kRows * size), &dimensions[1]) == NC_NOERR);
  CHECK(nc_def_dim(file, "column", kColumns, &dimensions[2]) == NC_NOERR);
  CHECK(nc_def_var(file, "plane", NC_INT, 2, &dimensions[1], &plane) == NC_NOERR);
  CHECK(nc_def_var(file, "records", NC_DOUBLE, 3, dimensions, &records) == NC_NOERR);
  CHECK(nc_put_att_int(file, NC_GLOBAL, "number", NC_INT, 1, &number) == NC_NOERR);
  CHECK(nc_enddef(file) == NC_NOERR);
  CHECK(nc_var_par_access(file, plane, NC_INDEPENDENT) == NC_NOERR);
  CHECK(nc_var_par_access(file, records, NC_COLLECTIVE) == NC_NOERR);

  int numbers[kRows * kColumns];
  double reals[kRows * kColumns];
  size_t start[] = {0, (size_t)(rank * kRows), 0}, count[] = {1, kRows, kColumns};
  for (int i = 0; i < kRows * kColumns; i++) {
    numbers[i] = (rank * kRows + i / kColumns) * 1000 + i % kColumns;
  }
  CHECK(nc_put_vara_int(file, plane, &start[1], &count[1], numbers) == NC_NOERR);
  for (int record = 0; record < kRecords; record++) {
    for (int i = 0; i < kRows * kColumns; i++) reals[i] = numbers[i] + record * 0.25;
    start[0] = (size_t)record;
    CHECK(nc_put_vara_double(file, records, start, count, reals) == NC_NOERR);
    CHECK(nc_sync(file) == NC_NOERR);
  }
  CHECK(nc_close(file) == NC_NOERR);
  return finish();
}
