"""Phases of a Python program. Prints "noted N" on rank 0: what regions.begin returned."""

import numpy
from mpi4py import MPI

from headrace import regions

world = MPI.COMM_WORLD
part, total = numpy.zeros(10), numpy.zeros(10)


@regions.region("solve")
def solve() -> None:
    world.Allreduce(part, total)


for _ in range(5):
    solve()
noted = regions.begin("halo", 7)
for _ in range(3):
    world.Barrier()
regions.end("halo", 7)
before = regions.record(regions.OFF)
world.Barrier()
regions.record(regions.ON)
assert (before, regions.flush()) == ((regions.ON, True) if noted else (regions.OFF, False))
try:
    with regions.region("failing"):
        world.Barrier()
        raise KeyError
except KeyError:
    world.Barrier()
if world.rank == 0:
    print(f"noted {noted}", flush=True)
