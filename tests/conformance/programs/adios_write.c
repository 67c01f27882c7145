// Writes a BP file by several ranks through ADIOS 1, one step after the other, and reads it back
// in parallel, other ranks' rows and across them; for adios_check.py.
// usage: adios_write FILE METHOD [PARAMETERS]

#include <adios.h>
#include <adios_read.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"

enum { kRows = 6, kColumns = 29, kSteps = 4 };

static int rank, size;

static double number_at(int row, int column, int step) {
  return row * 1000 + column + step * 0.25;
}

static void define(const char* method, const char* parameters) {
  char local[40], global[40], offset[40];
  int64_t group;
  snprintf(local, sizeof local, "%d,%d", kRows, kColumns);
  snprintf(global, sizeof global, "%d,%d", kRows * size, kColumns);
  snprintf(offset, sizeof offset, "%d,0", rank * kRows);
  CHECK(adios_declare_group(&group, "fields", "", adios_stat_no) == 0);
  CHECK(adios_select_method(group, method, parameters, "") == 0);
  CHECK(adios_define_var(group, "numbers", "", adios_double, local, global, offset) >= 0);
  CHECK(adios_define_attribute(group, "number", "", adios_integer, "4711", "") == 0);
}

static void write_step(const char* path, int step) {
  double numbers[kRows * kColumns];
  int64_t file;
  uint64_t total;
  for (int i = 0; i < kRows * kColumns; i++) {
    numbers[i] = number_at(rank * kRows + i / kColumns, i % kColumns, step);
  }
  CHECK(adios_open(&file, "fields", path, step == 0 ? "w" : "a", MPI_COMM_WORLD) == 0);
  CHECK(adios_group_size(file, sizeof numbers, &total) == 0);
  CHECK(adios_write(file, "numbers", numbers) == 0);
  CHECK(adios_close(file) == 0);
}

/// Another rank's rows of all steps, and a column of all ranks' rows.
static void read_back(const char* path) {
  static double numbers[kSteps][kRows][kColumns];
  double* const column = malloc(sizeof(double) * (size_t)(kRows * size));
  uint64_t start[] = {(uint64_t)((size - 1 - rank) * kRows), 0}, count[] = {kRows, kColumns};
  uint64_t place[] = {0, (uint64_t)(rank % kColumns)};
  uint64_t length[] = {(uint64_t)(kRows * size), 1};
  CHECK(adios_read_init_method(ADIOS_READ_METHOD_BP, MPI_COMM_WORLD, "") == 0);
  ADIOS_FILE* const file = adios_read_open_file(path, ADIOS_READ_METHOD_BP, MPI_COMM_WORLD);
  CHECK(file != NULL);
  if (file == NULL) return;
  ADIOS_SELECTION* const rows = adios_selection_boundingbox(2, start, count);
  ADIOS_SELECTION* const across = adios_selection_boundingbox(2, place, length);
  CHECK(adios_schedule_read(file, rows, "numbers", 0, kSteps, numbers) == 0);
  CHECK(adios_schedule_read(file, across, "numbers", kSteps - 1, 1, column) == 0);
  CHECK(adios_perform_reads(file, 1) == 0);
  for (int step = 0; step < kSteps; step++) {
    for (int i = 0; i < kRows * kColumns; i++) {
      const double expected = number_at((int)start[0] + i / kColumns, i % kColumns, step);
      CHECK(numbers[step][i / kColumns][i % kColumns] == expected);
    }
  }
  for (int i = 0; i < kRows * size; i++) {
    CHECK(column[i] == number_at(i, (int)place[1], kSteps - 1));
  }
  adios_selection_delete(rows);
  adios_selection_delete(across);
  free(column);
  CHECK(adios_read_close(file) == 0);
  CHECK(adios_read_finalize_method(ADIOS_READ_METHOD_BP) == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(adios_init_noxml(MPI_COMM_WORLD) == 0);
  define(argv[2], argc > 3 ? argv[3] : "");
  for (int step = 0; step < kSteps; step++) write_step(argv[1], step);
  read_back(argv[1]);
  CHECK(adios_finalize(rank) == 0);
  return finish();
}
