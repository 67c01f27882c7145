"""What was measured so far, in a file: a run that was stopped goes on from it."""

import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from headrace.bench.peers.grid import Point
from headrace.bench.peers.load import NOISY_SHARE
from headrace.errors import HeadraceError, unwritable

FORMAT = "headrace bench peers 1"

# What must be as it was for a run to go on. key -> how people call it.
SAME = {
    "machine": "on another machine",
    "headrace": "with another version of Headrace",
    "library": "with another build of libheadrace.so or of the benchmark programs",
    "size": "with another --size",
    "settings": "with other settings in the environment or in files",
}


@dataclass
class Round:
    """Each way once. rates: by way, then by access, MiB/s (or openings a second); others: share of
    the machine's CPU time that went to other work; seconds: how long it took; core_distances: by
    access, nanoseconds that a page took from core to core, where Headrace told it."""

    rates: dict[str, dict[str, float]]
    others: float
    seconds: float
    core_distances: dict[str, int] = field(default_factory=dict)


@dataclass
class Attempt:
    """A point measured once, in full or in part. load: loadavg when it began.

    labels: what people call a way, by key; hand_set: keys of an expert's ways; failed: why a way is
    left out, by key; dropped: the same of ways that work but are far from the best; identical:
    whether a way's file equals Headrace's; damaged: bytes that were wrong, by way; requests: the
    limit's, by access; paths: Headrace's path and its reason, by access; error: why nothing can be
    measured here.
    """

    date: str
    load: float
    labels: dict[str, str] = field(default_factory=dict)
    hand_set: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    identical: dict[str, bool] = field(default_factory=dict)
    damaged: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    paths: dict[str, list[str]] = field(default_factory=dict)
    took_part: bool = True
    rounds: list[Round] = field(default_factory=list)
    error: str = ""

    @property
    def others(self) -> float:
        return fmean(one.others for one in self.rounds) if self.rounds else 0.0

    @property
    def is_noisy(self) -> bool:
        return self.others > NOISY_SHARE

    def is_complete(self, rounds: int) -> bool:
        return bool(self.error) or len(self.rounds) >= rounds

    def rates(self, way: str, access: str) -> list[float]:
        return [one.rates[way][access] for one in self.rounds]


@dataclass
class Measured:
    """A point with its attempts. title: of the MPI; settings: those of all its runs; lines: what
    each way's program was told, by way; search: a few rounds of many ways, which say what the
    attempts compare, where a command does that."""

    point: Point
    title: str
    settings: str
    lines: dict[str, str]
    attempts: list[Attempt] = field(default_factory=list)
    search: Attempt | None = None

    @property
    def trials(self) -> list[Attempt]:
        """Whatever was run here."""
        return [*([self.search] if self.search else []), *self.attempts]

    def best(self) -> Attempt | None:
        """The attempt that counts: of those with most rounds the one with the least other work."""
        attempts = [attempt for attempt in self.attempts if attempt.rounds or attempt.error]
        if not attempts:
            return None
        most = max(len(attempt.rounds) for attempt in attempts)
        full = [attempt for attempt in attempts if len(attempt.rounds) == most]
        return min(full, key=lambda attempt: attempt.others)


@dataclass
class Results:
    """identity: what SAME names; file_systems: type by directory; form: of the file they are in."""

    identity: dict[str, Any]
    file_systems: dict[str, str] = field(default_factory=dict)
    points: dict[Point, Measured] = field(default_factory=dict)
    form: str = FORMAT


def to_document(results: Results) -> dict[str, Any]:
    return {
        "format": results.form,
        **results.identity,
        "fileSystems": results.file_systems,
        "points": [asdict(measured) for measured in results.points.values()],
    }


def save(results: Results, path: Path) -> None:
    """Replaces the file as a whole: whatever happens, the old or the new one is there."""
    path = path.resolve()  # a link stays one
    name = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=path.absolute().parent, prefix=f".{path.name}.", delete=False
        ) as file:
            name = file.name
            json.dump(to_document(results), file, indent=1)
            file.write("\n")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        if name is not None:
            Path(name).unlink(missing_ok=True)


def load(path: Path, form: str = FORMAT) -> Results:
    """What an earlier run wrote; refuses what is damaged or no such file."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error), form) from error
    if not isinstance(document, dict) or document.get("format") != form:
        raise _unreadable(path, f"it is not of the format '{form}'", form)
    try:
        measured = [_measured(entry) for entry in document["points"]]
        return Results(
            {key: document[key] for key in SAME},
            dict(document["fileSystems"]),
            {one.point: one for one in measured},
            form,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(path, f"damaged: {error or type(error).__name__}", form) from error


def _unreadable(path: Path, why: str, form: str) -> HeadraceError:
    command = form.rpartition(" ")[0]
    remedy = f"give a file that '{command} --json' wrote, or a new name"
    return HeadraceError(f"'{path}' cannot be read", why, remedy)


def _measured(entry: Mapping[str, Any]) -> Measured:
    attempts = [_attempt(attempt) for attempt in entry["attempts"]]
    search = _attempt(entry["search"]) if entry.get("search") else None
    point = Point(**entry["point"])
    return Measured(**{**entry, "point": point, "attempts": attempts, "search": search})


def _attempt(entry: Mapping[str, Any]) -> Attempt:
    attempt = Attempt(**{**entry, "rounds": [Round(**one) for one in entry["rounds"]]})
    for one in attempt.rounds:
        _check_round(one, attempt)
    return attempt


def _check_round(one: Round, attempt: Attempt) -> None:
    """Raises ValueError where the round is not one of the attempt."""
    rates = [rate for by_access in one.rates.values() for rate in by_access.values()]
    numbers = [*rates, one.seconds, 1 + one.others]
    if not rates or not all(math.isfinite(number) and number > 0 for number in numbers):
        raise ValueError("a round holds no positive numbers")
    if set(one.rates) - set(attempt.labels):
        raise ValueError("a round holds a way without a name")
    if set(attempt.labels) - set(attempt.failed) - set(attempt.dropped) - set(one.rates):
        raise ValueError("a way is missing in a round")
    if len({tuple(by_access) for by_access in one.rates.values()}) > 1:
        raise ValueError("ways differ in their accesses")


def check_identity(earlier: Results, now: Mapping[str, Any], path: Path) -> None:
    """Raises unless what `earlier` holds can be gone on with."""
    for key, text in SAME.items():
        if earlier.identity[key] != now[key]:
            raise HeadraceError(
                f"'{path}' was measured {text}",
                f"there {_shown(earlier.identity[key])}, here {_shown(now[key])}",
                "give a new name to --json",
            )


def _shown(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{key} {text}" for key, text in value.items()) or "none"
