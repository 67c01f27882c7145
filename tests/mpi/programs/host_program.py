"""mpi4py as host: numpy buffers through subarray and darray views. Prints "ok" or fails.

host_program.py DIRECTORY
"""

import contextlib
import os
import sys

import numpy
from mpi4py import MPI


def carried(file: MPI.File) -> bool:
    info = file.Get_info()
    return info != MPI.INFO_NULL and info.Get("headrace_write_path") is not None


def grid_of(size: int) -> tuple[int, int]:
    rows = max(i for i in range(1, size + 1) if size % i == 0 and i * i <= size)
    return rows, size // rows


def subarray_view(comm: MPI.Comm, directory: str, layered: bool) -> None:
    rows, columns = grid_of(comm.size)
    row, column = divmod(comm.rank, columns)
    shape, mine = (8 * rows, 6 * columns), (8, 6)
    filetype = MPI.DOUBLE.Create_subarray(shape, mine, (8 * row, 6 * column)).Commit()
    part = numpy.arange(48, dtype="d").reshape(mine) + 1000 * comm.rank
    file = MPI.File.Open(comm, f"{directory}/subarray", MPI.MODE_CREATE | MPI.MODE_RDWR)
    assert carried(file) == layered
    file.Set_view(0, MPI.DOUBLE, filetype)
    status = MPI.Status()
    file.Write_all(part, status)
    assert status.Get_count(MPI.DOUBLE) == 48
    back = numpy.zeros_like(part)
    file.Read_at_all(0, back)
    assert (back == part).all()
    file.Close()
    comm.Barrier()
    whole = numpy.fromfile(f"{directory}/subarray").reshape(shape)
    assert (whole[8 * row : 8 * row + 8, 6 * column : 6 * column + 6] == part).all()


def darray_view(comm: MPI.Comm, directory: str) -> None:
    rows, columns = grid_of(comm.size)
    shape = (6 * rows, 4 * columns)
    kinds = (MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_CYCLIC)
    arguments = (MPI.DISTRIBUTE_DFLT_DARG, 2)
    filetype = MPI.INT.Create_darray(
        comm.size, comm.rank, shape, kinds, arguments, (rows, columns)
    ).Commit()
    part = numpy.full(24, comm.rank, dtype="i")
    file = MPI.File.Open(comm, f"{directory}/darray", MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Set_view(0, MPI.INT, filetype)
    file.Write_all(part)
    file.Close()
    comm.Barrier()
    whole = numpy.fromfile(f"{directory}/darray", dtype="i").reshape(shape)
    for (i, j), owner in numpy.ndenumerate(whole):
        assert owner == i // 6 * columns + j // 2 % columns


def columns_of_array(comm: MPI.Comm, directory: str, layered: bool) -> None:
    """Memory with holes: every second column of an array."""
    array = numpy.arange(80, dtype="i").reshape(8, 10) + 100 * comm.rank
    columns = MPI.INT.Create_vector(8, 1, 10).Create_resized(0, 8).Commit()
    file = MPI.File.Open(comm, f"{directory}/columns", MPI.MODE_CREATE | MPI.MODE_RDWR)
    back = numpy.zeros_like(array)
    file.Write_at_all(comm.rank * 160, [array, 5, columns])
    if not layered:
        # Plain Open MPI may return before the aggregator has written this rank's own bytes.
        file.Sync()
        comm.Barrier()
    file.Read_at(comm.rank * 160, [back, 5, columns])
    file.Close()
    assert (back[:, ::2] == array[:, ::2]).all() and not back[:, 1::2].any()


def errors(comm: MPI.Comm, directory: str) -> None:
    try:
        MPI.File.Open(comm, f"{directory}/missing/file", MPI.MODE_RDONLY)
    except MPI.Exception as error:
        assert comm.rank > 0 or error.Get_error_class() == MPI.ERR_NO_SUCH_FILE
    else:
        raise AssertionError("a file in a missing directory was opened")


def default_handler(comm: MPI.Comm, directory: str) -> None:
    """The handler of calls without a file sees MPI.FILE_NULL, in a module that was loaded."""
    seen = []
    handler = MPI.File.Create_errhandler(
        lambda file, code: seen.append((file == MPI.FILE_NULL, MPI.Get_error_class(code)))
    )
    MPI.FILE_NULL.Set_errhandler(handler)
    # Plain MPICH returns no error where a handler was called.
    with contextlib.suppress(MPI.Exception):
        MPI.File.Open(MPI.COMM_SELF, f"{directory}/missing", MPI.MODE_RDONLY)
    with contextlib.suppress(MPI.Exception):
        MPI.File.Delete(f"{directory}/missing")
    assert seen == [(True, MPI.ERR_NO_SUCH_FILE)] * 2, seen
    MPI.FILE_NULL.Set_errhandler(MPI.ERRORS_RETURN)
    handler.Free()


def main() -> None:
    comm, directory = MPI.COMM_WORLD, sys.argv[1]
    layered = os.environ.get("MPI_TEST_EXPECT") == "engine"
    subarray_view(comm, directory, layered)
    darray_view(comm, directory)
    columns_of_array(comm, directory, layered)
    errors(comm, directory)
    default_handler(comm, directory)
    comm.Barrier()
    if comm.rank == 0:
        print(MPI.Get_library_version().strip("\0 \n"))
        print(MPI.Get_version(), MPI.get_vendor(), MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) is not None)
        print("ok")


main()
