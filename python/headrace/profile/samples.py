"""The samples of a record, over all nodes."""

from collections.abc import Iterator
from dataclasses import dataclass

from headrace.analysis.paths import Frame, Paths
from headrace.record.tables import Record

SOURCES = ("perf_event", "CPU timer", "wall timer")
MOST_FRAMES = 256


@dataclass(frozen=True)
class Thread:
    """period, time, cpu: ns. caller: its number among those that call MPI, -1 if it does not."""

    rank: int
    number: int
    name: str
    caller: int
    source: int
    period: int
    samples: int
    time: int
    cpu: int
    lost: int
    cut: int


@dataclass(frozen=True)
class Sample:
    """Those of a thread by one path in one region. path: a number of `Samples`; time: ns."""

    rank: int
    thread: int
    path: int
    region: str
    samples: int
    time: int


class Samples:
    """`threads` by rank and number; `rows` in the order of the record."""

    def __init__(self, record: Record) -> None:
        self._paths = Paths()
        threads: list[Thread] = []
        self.rows: list[Sample] = []
        for node in record.nodes:
            names = node.texts_of("sampling", "name")
            columns = ("rank", "thread", "caller", "source", "period", "samples", "time", "cpu")
            table = node["sampling"].rows(*columns, "lost", "cut")
            threads += [
                Thread(*own[:2], name, *own[2:]) for name, own in zip(names, table, strict=True)
            ]
            self.rows += self._of_node(node)
        self.threads = tuple(sorted(threads, key=lambda one: (one.rank, one.number)))

    def _of_node(self, node) -> Iterator[Sample]:
        if not node["samples"].size:
            return
        numbers = self._paths.add(node)
        labels = {0: ""}
        for region, own, label in zip(
            node["regions"]["region"],
            node["regions"]["id"],
            node.texts_of("regions", "label"),
            strict=True,
        ):
            labels[region] = label or f"region {own}"
        for rank, thread, path, region, samples, time in node["samples"].rows(
            "rank", "thread", "path", "region", "samples", "time"
        ):
            number = numbers[path] if path >= 0 else -1
            yield Sample(rank, thread, number, labels.get(region, ""), samples, time)

    def frames(self, path: int) -> tuple[Frame, ...]:
        """Innermost first; of the innermost the offset is that of the sample, plus one."""
        return self._paths.frames(path, MOST_FRAMES)

    def path_numbers(self) -> set[int]:
        return {row.path for row in self.rows}

    def paths(self) -> Iterator[tuple[Frame, ...]]:
        """Each path once."""
        for path in self.path_numbers():
            yield self.frames(path)
