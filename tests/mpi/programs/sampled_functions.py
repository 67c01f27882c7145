"""Spends its time in functions of Python that are called in several ways, and prints what each took
by its thread's clock: "rank function seconds". Its argument: seconds for each.

With "strange" behind that it does what moves and frees frames and code all the time instead, and
prints "ok" if that came out right.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator

from mpi4py import MPI

RANK = MPI.COMM_WORLD.Get_rank()
SECONDS = float(sys.argv[1])
PIECE = 2000


def straight() -> int:
    found = 0
    for number in range(PIECE):
        found = (found * 31 + number) % 65537
    return found


class Solver:
    def method(self) -> int:
        found = 1
        for number in range(PIECE):
            found = (found * 29 + number) % 65521
        return found


def generated() -> Iterator[int]:
    found = 2
    for number in range(PIECE):
        found = (found * 27 + number) % 65519
        yield found


def called_back(number: int) -> int:
    found = 3
    for _ in range(20):
        found = (found * 25 + number) % 65497
    return found


def deepest(left: int) -> int:
    if left > 0:
        return deepest(left - 1)
    found = 4
    for number in range(PIECE):
        found = (found * 23 + number) % 65479
    return found


def in_a_thread() -> int:
    found = 5
    for number in range(PIECE):
        found = (found * 21 + number) % 65449
    return found


def timed(name: str, work: Callable[[], object]) -> None:
    begin = time.thread_time()
    while time.thread_time() - begin < SECONDS:
        work()
    print(RANK, name, time.thread_time() - begin, flush=True)


def known() -> None:
    timed("straight", straight)
    timed("Solver.method", Solver().method)
    timed("generated", lambda: sum(generated()))
    timed("called_back", lambda: sorted(range(PIECE), key=called_back))
    timed("deepest", lambda: deepest(80))
    other = threading.Thread(target=timed, args=("in_a_thread", in_a_thread))
    other.start()
    other.join()


def recursion(depth: int) -> int:
    try:
        return recursion(depth + 1)
    except RecursionError:
        return depth


def strange() -> None:
    end = time.monotonic() + SECONDS
    count = 0
    while time.monotonic() < end:
        space: dict[str, object] = {}
        code = f"def made(x):\n  y = x + {count}\n  return y\nvalue = made(1)\n"
        exec(compile(code, f"<made {count % 7}>", "exec"), space)
        assert space["value"] == count + 1
        assert recursion(0) > 100
        numbers = generated()
        next(numbers)
        numbers.close()
        threads = [threading.Thread(target=straight) for _ in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        count += 1
    print("ok", flush=True)


if "strange" in sys.argv:
    strange()
else:
    known()
MPI.COMM_WORLD.Barrier()
