"""Jobs of 16 ranks on four emulated nodes whose messages are known: in which order ranks sit, what
they send between nodes, and what the wire carries."""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hosts import REPOSITORY, Host
from least_traffic import Message
from running import Result, compile_c, shared_object, work_directory

from .cluster import Cluster
from .launching import launch_ordered

SIZES = (4, 4, 4, 4)
RANKS = sum(SIZES)
LARGE = 1 << 21


def _grid(*extents: int) -> list[Message]:
    """An open grid, each rank with a neighbour on either side in each dimension."""
    cells = list(itertools.product(*map(range, extents)))
    number = {cell: rank for rank, cell in enumerate(cells)}
    messages = []
    for cell in cells:
        for axis, step in itertools.product(range(len(extents)), (-1, 1)):
            other = (*cell[:axis], cell[axis] + step, *cell[axis + 1 :])
            if other in number:
                messages.append((number[cell], number[other], LARGE))
    return messages


def _irregular() -> list[Message]:
    """Pairs by chance, of unequal weights, one way only."""
    chance = random.Random(7)
    pairs = chance.sample(list(itertools.permutations(range(RANKS), 2)), 40)
    return [(one, other, chance.randrange(LARGE // 4, 2 * LARGE)) for one, other in pairs]


def _all_to_all() -> list[Message]:
    pairs = itertools.permutations(range(RANKS), 2)
    return [(one, other, LARGE // 8) for one, other in pairs]


PATTERNS = {
    "plane": _grid(4, 4),
    "cube": _grid(2, 2, 4),
    "irregular": _irregular(),
    "all-to-all": _all_to_all(),
}


@dataclass(frozen=True)
class Placed:
    """A job's end. node_of_rank: as the ranks themselves said. sums: of what each has received.
    wire: bytes that nodes put on it. seconds: of the exchange. record: None if there is none."""

    result: Result
    node_of_rank: list[int]
    sums: list[str]
    wire: int
    seconds: float
    record: Path | None

    def between_nodes(self, messages: Sequence[Message], steps: int) -> int:
        """Bytes that ranks have sent to ranks of other nodes."""
        node = self.node_of_rank
        return steps * sum(sent for one, other, sent in messages if node[one] != node[other])


class Jobs:
    """Runs one pattern under one MPI, and keeps the records of its runs."""

    def __init__(self, host: Host, cluster: Cluster, pattern: str) -> None:
        self.messages = PATTERNS[pattern]
        self._host, self._cluster = host, cluster
        self._folder = work_directory(f"placed-jobs-{host.name}-{pattern}")
        self._matrix = self._folder / "messages"
        self._matrix.write_text("".join("{} {} {}\n".format(*one) for one in self.messages))

    def run(self, order: str, steps: int, recorded: bool = True) -> Placed:
        program = compile_c(self._host, ["exchanged.c"], "exchanged")
        environment = {"HEADRACE_LOGPATH": str(self._folder / "records")}
        environment |= {"HEADRACE_SUMMARY": "0", "HEADRACE_RECORD": str(int(recorded))}
        if self._host.family.startswith("mpich"):
            environment["LD_PRELOAD"] = str(shared_object("yield_shim.c"))
        before, records = self._cluster.sent_bytes(), self._records()
        result = launch_ordered(
            self._host,
            self._cluster,
            SIZES,
            order,
            [program, self._matrix, steps],
            environment=environment,
        )
        wire = self._cluster.sent_bytes() - before
        new = sorted(self._records() - records)
        return _placed(result, wire, new[0] if len(new) == 1 else None)

    def _records(self) -> set[Path]:
        return set(self._folder.glob("records/*.hrc"))


def _placed(result: Result, wire: int, record: Path | None) -> Placed:
    assert result.code == 0, result.explain()
    form = r"^rank (\d+) on n(\d+) sent \d+ received \d+ sum (\w+)$"
    ranks = sorted(
        (int(rank), int(node), total)
        for rank, node, total in re.findall(form, result.out, re.MULTILINE)
    )
    assert [rank for rank, *_ in ranks] == list(range(RANKS)), result.explain()
    seconds = float(re.search(r"^seconds (\S+)$", result.out, re.MULTILINE)[1])
    nodes, sums = [node for _, node, _ in ranks], [total for *_, total in ranks]
    return Placed(result, nodes, sums, wire, seconds, record)


def predicted(record: Path) -> dict[str, int]:
    """Bytes between nodes by order, as `headrace place RECORD` prints them."""
    found = _command("place", record)["orders"]
    return {one["order"]: one["bytes_between_nodes"] for one in found}


def advised(record: Path) -> set[str]:
    """The rules whose advice `headrace report RECORD` gives."""
    return {one["id"] for one in _command("report", record)["advice"]}


def _command(name: str, record: Path) -> dict:
    line = [sys.executable, "-m", "headrace", name, str(record), "--json"]
    environment = {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
