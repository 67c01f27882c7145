"""Writes an HDF5 file by h5py with MPI, for hdf5_check.py. usage: h5py_write.py FILE"""

import sys

import h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS, SETS = 8, 37, 20


def numbers(rows: int, columns: int, first: int = 0) -> numpy.ndarray:
    return (numpy.arange(rows)[:, None] + first) * 1000 + numpy.arange(columns)[None, :]


def main() -> None:
    world = MPI.COMM_WORLD
    rank, size = world.rank, world.size
    mine = slice(rank * ROWS, (rank + 1) * ROWS)
    with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as file:
        shape = (ROWS * size, COLUMNS)
        rows = file.create_dataset("rows", shape, "i4")
        with rows.collective:
            rows[mine] = numbers(ROWS, COLUMNS, rank * ROWS)
        columns = file.create_dataset("columns", shape, ">i8", chunks=(5, 16))
        own = slice(COLUMNS * rank // size, COLUMNS * (rank + 1) // size)
        with columns.collective:
            columns[:, own] = numbers(*shape)[:, own]
        independent = file.create_dataset("independent", shape, "f8")
        independent[mine] = numbers(ROWS, COLUMNS, rank * ROWS)
        compressed = file.create_dataset("compressed", shape, "i4", chunks=(5, 16), compression=6)
        with compressed.collective:
            # Filters need a collective write, which a conversion of types would make independent.
            compressed[mine] = numbers(ROWS, COLUMNS, rank * ROWS).astype("i4")
        growing = file.create_dataset("growing", (0, COLUMNS), "i4", maxshape=(None, COLUMNS))
        for i in range(3):
            growing.resize((i + 1) * size * 2, axis=0)
            first = (i * size + rank) * 2
            with growing.collective:
                growing[first : first + 2] = numbers(2, COLUMNS, first)
            file.flush()
        group = file.create_group("many")
        for i in range(SETS):
            one = group.create_dataset(str(i), (2, 3), "i4")
            one.attrs["number"] = i
            if i % size == rank:
                one[...] = numbers(2, 3)
    with h5py.File(sys.argv[1], "r", driver="mpio", comm=world) as file:
        assert numpy.array_equal(file["columns"][...], numbers(ROWS * size, COLUMNS))
    if world.allreduce(1) == size and rank == 0:
        print(" No Errors")


if __name__ == "__main__":
    main()
