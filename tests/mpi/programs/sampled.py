"""Spends its time in Python's interpreter ("bad"), or in a library that it calls ("not").

sampled.py bad|not
sampled.py bad|mended STEPS

With STEPS each does so much work, and "mended" most of it in a library (bench/advice/gain.py)."""

import hashlib
import sys
import time

from mpi4py import MPI

SECONDS = 0.8


def interpreted() -> int:
    found = 0
    for number in range(20000):
        found = (found * 31 + number) % 65537
    return found


def called(data: bytes = bytes(1 << 22)) -> bytes:
    return hashlib.sha256(data).digest()


def in_library() -> int:
    return int((NUMBERS * 31 % 65537).sum() % 65537)


if len(sys.argv) > 2:
    import numpy

    NUMBERS = numpy.arange(20000)
    for step in range(int(sys.argv[2])):
        (interpreted if sys.argv[1] == "bad" or step % 5 == 0 else in_library)()
    MPI.COMM_WORLD.Barrier()
    sys.exit()

work = interpreted if sys.argv[1] == "bad" else called
begin = time.thread_time()
while time.thread_time() - begin < SECONDS:
    work()
MPI.COMM_WORLD.Barrier()
