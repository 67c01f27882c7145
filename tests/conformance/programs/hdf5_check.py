"""Reads what hdf5_write or h5py_write.py left, without MPI. usage: hdf5_check.py FILE RANKS"""

import sys

import h5py
import numpy

ROWS, COLUMNS, SETS = 8, 37, 20
PLANES = ("rows", "columns", "interleaved", "chunked", "compressed", "independent", "last")


def numbers(rows: int, columns: int) -> numpy.ndarray:
    return numpy.arange(rows)[:, None] * 1000 + numpy.arange(columns)[None, :]


def main() -> None:
    path, ranks = sys.argv[1], int(sys.argv[2])
    with h5py.File(path, "r") as file:
        for name in PLANES:
            if name in file:
                assert numpy.array_equal(file[name][...], numbers(ROWS * ranks, COLUMNS)), name
        assert numpy.array_equal(file["growing"][...], numbers(6 * ranks, COLUMNS)), "growing"
        for i in range(SETS):
            one = file["many"][str(i)]
            assert one.attrs["number"] == i, f"attribute of {i}"
            assert numpy.array_equal(one[...], numbers(2, 3)), f"many/{i}"
        found = sum(name in file for name in PLANES)
    print(f"read {found} planes")


if __name__ == "__main__":
    main()
