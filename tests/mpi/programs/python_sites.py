"""MPI by ctypes, so that any interpreter can: calls from some lines, which say how many.

python_sites.py LIBRARY
"""

import ctypes
import sys

ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)  # all that is loaded, what is preloaded first
number = ctypes.byref(ctypes.c_int())


def world():
    try:  # Open MPI's handles are addresses
        return ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
    except ValueError:
        return ctypes.c_int(0x44000000)  # MPICH's


WORLD = world()


def asked():
    for _ in range(7):
        mpi.MPI_Comm_rank(WORLD, number)  # 7 of MPI_Comm_rank
    mpi.MPI_Comm_rank(WORLD, number)  # 1 of MPI_Comm_rank


def generated():
    for _ in range(4):
        yield mpi.MPI_Comm_size(WORLD, number)  # 4 of MPI_Comm_size


class Solver:
    def step(self, how_deep):
        if how_deep > 0:
            return self.step(how_deep - 1)
        return mpi.MPI_Barrier(WORLD)  # 3 of MPI_Barrier


mpi.MPI_Init(None, None)
asked()
list(generated())
for depth in range(3):
    Solver().step(depth)
sorted(range(5), key=lambda _: mpi.MPI_Initialized(number))  # 5 of MPI_Initialized
mpi.MPI_Finalize()
