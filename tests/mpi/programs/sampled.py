"""Spends its time in Python's interpreter ("bad"), or in a library that it calls ("not")."""

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


work = interpreted if sys.argv[1] == "bad" else called
begin = time.thread_time()
while time.thread_time() - begin < SECONDS:
    work()
MPI.COMM_WORLD.Barrier()
