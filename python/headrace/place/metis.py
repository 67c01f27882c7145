"""METIS (Apache-2.0) by PyMetis (MIT), in a process of its own.

Its recursive bisection may write beyond its memory (KarypisLab/METIS issue 118), which ends the
process or makes PyMetis raise. So a child calls it, and its answers are checked.
"""

import importlib.util
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

LEAST_SECONDS = 60
EDGES_A_SECOND = 20_000  # a tenth of what METIS does with one cut
# The child has this process' module path, and never the working directory's modules.
_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from headrace.place.metis import serve; serve()"


@dataclass(frozen=True)
class Task:
    """A graph in compressed rows (CSR) that is to be cut. shares: of each part, of all vertices;
    None if they are equal. cuts: that METIS tries for each seed, of which the best counts."""

    parts: int
    starts: list[int]
    neighbours: list[int]
    weights: list[int]
    shares: list[float] | None
    cuts: int
    seeds: Sequence[int]


@dataclass(frozen=True)
class Answer:
    """found: for each seed that was answered, the part of each vertex. why: METIS stopped before
    the last seed, empty if it did not."""

    found: list[list[int]]
    why: str = ""


def is_there() -> bool:
    return importlib.util.find_spec("pymetis") is not None


def ask(task: Task, seconds: float | None = None) -> Answer:
    """The parts of a graph. seconds: after which the child is ended; None: by the graph's size."""
    limit = seconds or LEAST_SECONDS + len(task.neighbours) / EDGES_A_SECOND
    line = [sys.executable, "-c", _CHILD, *sys.path]
    text = json.dumps(asdict(task)).encode()
    try:
        done = subprocess.run(
            line, input=text, capture_output=True, timeout=limit, check=False, shell=False
        )
    except subprocess.TimeoutExpired as error:
        return _checked(task, error.stdout or b"", f"it took longer than {limit:.0f} s")
    except OSError as error:
        return Answer([], error.strerror or str(error))
    ended = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
    return _checked(task, done.stdout, f"it ended with {ended}")


def _checked(task: Task, text: bytes, why: str) -> Answer:
    """Of the lines that a child has written, those that are answers."""
    found = []
    for line in text.splitlines():
        try:
            parts = json.loads(line)
        except ValueError:  # the last line of a child that was ended
            break
        if len(parts) != len(task.starts) - 1 or not all(0 <= one < task.parts for one in parts):
            return Answer(found, "its answer is no partition")
        found.append(parts)
    return Answer(found, "" if len(found) == len(task.seeds) else why)


def serve() -> None:
    """The child: reads a task, writes a line with the parts for each seed."""
    import pymetis

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    task = Task(**json.load(sys.stdin))
    for seed in task.seeds:
        _, found = pymetis.part_graph(
            task.parts,
            adjacency=pymetis.CSRAdjacency(task.starts, task.neighbours),
            eweights=task.weights,
            tpwgts=task.shares,
            recursive=True,
            options=pymetis.Options(ncuts=task.cuts, seed=seed),
        )
        print(json.dumps(list(map(int, found))), flush=True)
