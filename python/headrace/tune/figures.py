"""What was measured of a file system, and its form on disk."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from headrace.errors import HeadraceError

FORMAT = "headrace tune 1"


@dataclass(frozen=True)
class Figure:
    """One thing that was measured. ranks: that did it at the same time. bytes: of a request or a
    piece. count: pieces of a rank in a call. gap: bytes between pieces. path: of a collective call.
    seconds: of one request or call, by sample."""

    what: str
    ranks: int
    bytes: int
    count: int
    gap: int
    path: str
    seconds: list[float]

    def __post_init__(self) -> None:
        numbers = (self.ranks, self.bytes, self.count, self.gap)
        sound = all(isinstance(one, int) and one >= 0 for one in numbers)
        if not sound or not isinstance(self.what, str) or not isinstance(self.path, str):
            raise ValueError("a figure is not of the form that is read here")
        times = self.seconds
        if not times or not all(
            isinstance(one, float | int) and 0 < one < math.inf for one in times
        ):
            raise ValueError(f"the times of {self.what} are not positive numbers")

    @property
    def nanoseconds(self) -> float:
        """The median."""
        return median(self.seconds) * 1e9

    @property
    def undisturbed(self) -> float:
        """Nanoseconds of a sample that other work has hardly disturbed: the lower quartile."""
        return sorted(self.seconds)[(len(self.seconds) - 1) // 4] * 1e9


@dataclass(frozen=True)
class Measured:
    """All figures, and of what they are. file_system: its kind, as Headrace calls it. mount: where
    it is mounted. core_distance: nanoseconds that a page takes to another core, 0 if unknown.
    coherence_tries, coherence_stale: reads of what another node had just written, and those that
    did not see it. reads_memory: what was read could not be put out of this node's memory."""

    mpi: str
    ranks: int
    nodes: int
    node_ranks: int
    cores: int
    processor: str
    host: str
    file_system: str
    core_distance: float
    coherence_tries: int
    coherence_stale: int
    figures: list[Figure]
    reads_memory: bool = False
    mount: str = ""
    date: str = ""
    headrace: str = ""

    def all_of(self, what: str) -> list[Figure]:
        return [figure for figure in self.figures if figure.what == what]

    def of_path(self, what: str, size: int, path: str) -> Figure | None:
        found = (one for one in self.all_of(what) if one.bytes == size and one.path == path)
        return next(found, None)


def from_program(text: str, **more: str) -> Measured:
    """What the program `tune` printed. more: what it does not know."""
    try:
        document = json.loads(text)
        document.pop("program")
        document["mpi"] = document.pop("MPI")
        return _measured({**document, **more})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise HeadraceError(
            "the file system was not measured",
            f"the figures cannot be read: {str(error) or type(error).__name__}",
            "see whether something else writes to the job's output, or reinstall headrace",
            1,
        ) from error


def to_text(measured: Measured) -> str:
    return json.dumps({"format": FORMAT, **asdict(measured)}, indent=1) + "\n"


def read_figures(path: Path) -> Measured:
    """What an earlier run wrote beside its profile."""
    try:
        document = json.loads(path.read_text())
        if document.pop("format") != FORMAT:
            raise ValueError("its format is another one")
        return _measured(document)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise HeadraceError(
            f"'{path}' cannot be read",
            str(error) or type(error).__name__,
            "give a file of figures that 'headrace tune' wrote",
        ) from error


def _measured(document: Mapping[str, Any]) -> Measured:
    figures = [Figure(**figure) for figure in document["figures"]]
    return Measured(**{**document, "figures": figures})
