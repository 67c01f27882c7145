"""Reads what netcdf_write or pnetcdf_write left, without MPI. usage: netcdf_check.py FILE RANKS"""

import sys

import netCDF4
import numpy

ROWS, COLUMNS, RECORDS = 6, 29, 4


def main() -> None:
    path, ranks = sys.argv[1], int(sys.argv[2])
    numbers = numpy.arange(ROWS * ranks)[:, None] * 1000 + numpy.arange(COLUMNS)[None, :]
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert file.number == 4711
        for name in ("plane", "strided", "alone"):
            if name in file.variables:
                assert numpy.array_equal(file[name][...], numbers), name
        assert file["records"].shape == (RECORDS, ROWS * ranks, COLUMNS)
        for record in range(RECORDS):
            assert numpy.array_equal(file["records"][record], numbers + record * 0.25), record


if __name__ == "__main__":
    main()
