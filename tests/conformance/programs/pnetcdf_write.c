// Writes a netCDF file (CDF-1, 2 or 5) by several ranks through PnetCDF: blocking, nonblocking,
// strided and independent calls, records; for netcdf_check.py. usage: pnetcdf_write FILE 1|2|5

#include <pnetcdf.h>
#include <stdlib.h>

#include "check.h"

enum { kRows = 6, kColumns = 29, kRecords = 4 };

static int rank, size, file;

static void fill(int* numbers) {
  for (int i = 0; i < kRows * kColumns; i++) {
    numbers[i] = (rank * kRows + i / kColumns) * 1000 + i % kColumns;
  }
}

/// All records at once, by calls that wait for nothing.
static void put_records(int records) {
  static double reals[kRecords][kRows * kColumns];
  int numbers[kRows * kColumns], requests[kRecords], states[kRecords];
  fill(numbers);
  for (int record = 0; record < kRecords; record++) {
    MPI_Offset start[] = {record, rank * kRows, 0}, count[] = {1, kRows, kColumns};
    for (int i = 0; i < kRows * kColumns; i++) reals[record][i] = numbers[i] + record * 0.25;
    CHECK(ncmpi_iput_vara_double(file, records, start, count, reals[record], &requests[record]) ==
          NC_NOERR);
  }
  CHECK(ncmpi_wait_all(file, kRecords, requests, states) == NC_NOERR);
  for (int i = 0; i < kRecords; i++) CHECK(states[i] == NC_NOERR);
}

/// Each rank's rows lie `size` apart; alone, and then as one of all ranks.
static void put_strided(int strided, int alone) {
  int numbers[kRows * kColumns];
  for (int i = 0; i < kRows * kColumns; i++) {
    numbers[i] = (rank + i / kColumns * size) * 1000 + i % kColumns;
  }
  MPI_Offset start[] = {rank, 0}, count[] = {kRows, kColumns}, stride[] = {size, 1};
  CHECK(ncmpi_put_vars_int_all(file, strided, start, count, stride, numbers) == NC_NOERR);
  CHECK(ncmpi_begin_indep_data(file) == NC_NOERR);
  CHECK(ncmpi_put_vars_int(file, alone, start, count, stride, numbers) == NC_NOERR);
  CHECK(ncmpi_end_indep_data(file) == NC_NOERR);
}

static void read_back(int plane) {
  MPI_Offset start[] = {(size - 1 - rank) * kRows, 0}, count[] = {kRows, kColumns};
  int numbers[kRows * kColumns];
  CHECK(ncmpi_get_vara_int_all(file, plane, start, count, numbers) == NC_NOERR);
  for (int i = 0; i < kRows * kColumns; i++) {
    CHECK(numbers[i] == ((int)start[0] + i / kColumns) * 1000 + i % kColumns);
  }
}

int main(int argc, char** argv) {
  int dimensions[3], plane, strided, alone, records, number = 4711, numbers[kRows * kColumns];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int format = argv[2][0] == '5' ? NC_64BIT_DATA : argv[2][0] == '2' ? NC_64BIT_OFFSET : 0;
  CHECK(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | format, MPI_INFO_NULL, &file) ==
        NC_NOERR);
  CHECK(ncmpi_def_dim(file, "record", NC_UNLIMITED, &dimensions[0]) == NC_NOERR);
  CHECK(ncmpi_def_dim(file, "row", kRows * size, &dimensions[1]) == NC_NOERR);
  CHECK(ncmpi_def_dim(file, "column", kColumns, &dimensions[2]) == NC_NOERR);
  CHECK(ncmpi_def_var(file, "plane", NC_INT, 2, &dimensions[1], &plane) == NC_NOERR);
  CHECK(ncmpi_def_var(file, "strided", NC_INT, 2, &dimensions[1], &strided) == NC_NOERR);
  CHECK(ncmpi_def_var(file, "alone", NC_INT, 2, &dimensions[1], &alone) == NC_NOERR);
  CHECK(ncmpi_def_var(file, "records", NC_DOUBLE, 3, dimensions, &records) == NC_NOERR);
  CHECK(ncmpi_put_att_int(file, NC_GLOBAL, "number", NC_INT, 1, &number) == NC_NOERR);
  CHECK(ncmpi_enddef(file) == NC_NOERR);

  MPI_Offset start[] = {rank * kRows, 0}, count[] = {kRows, kColumns};
  fill(numbers);
  CHECK(ncmpi_put_vara_int_all(file, plane, start, count, numbers) == NC_NOERR);
  put_strided(strided, alone);
  put_records(records);
  CHECK(ncmpi_sync(file) == NC_NOERR);
  read_back(plane);
  CHECK(ncmpi_close(file) == NC_NOERR);
  return finish();
}
