"""Patterns of collective calls: what is chosen for them with and without a profile."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.bench.programs import find_file
from headrace.errors import HeadraceError
from headrace.statistics import Interval, paired_ratio
from headrace.tune.figures import Measured

# Bytes of a piece, and pieces of each rank. All are among what the program measures by both paths.
SHAPES = (
    (1000, 1000),
    (10_000, 200),
    (65_536, 64),
    (262_144, 16),
    (1 << 20, 4),
    (4 << 20, 2),
)
DIRECTIONS = ("write", "read")
REFUSED = re.compile(
    r"^(?:headrace: )?(profile '.*' (?:is ignored|does not count).*)$", re.MULTILINE
)
CHOICE = re.compile(r"^(writes|reads) of \d+ bytes, .*?: (\w+) \((.*)\)$", re.MULTILINE)


@dataclass(frozen=True)
class Pattern:
    """`pieces` pieces of `bytes` bytes of each rank; those of all ranks take turns in the file."""

    direction: str
    bytes: int
    pieces: int

    @property
    def title(self) -> str:
        return f"{self.direction} {self.pieces} pieces of {self.bytes:,} B"


PATTERNS = tuple(Pattern(way, size, count) for way in DIRECTIONS for size, count in SHAPES)


@dataclass(frozen=True)
class Choice:
    """What is chosen for a pattern without and with a profile, and why with it. gain: how many
    times as fast the new choice was measured to be, by both paths in turns; none if it is the
    same."""

    pattern: Pattern
    before: str
    after: str
    reason: str
    gain: Interval | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    @property
    def is_proven(self) -> bool:
        return is_gain(self.gain)


def is_gain(times: Interval | None) -> bool:
    """Whether so many times as fast is surely faster: the interval lies above 1, and holds the
    median with 95 % or more, which needs six pairs."""
    return times is not None and times.is_confident and times.low > 1


def choose(
    measured: Measured, folder: Path, profile: Path, environ: Mapping[str, str]
) -> list[Choice]:
    """The choices of the engine itself for a file in `folder`."""
    choices = []
    for size, count in SHAPES:
        before = _asked(measured, folder, size, count, "none", environ)
        after = _asked(measured, folder, size, count, str(profile), environ)
        for direction in DIRECTIONS:
            pattern = Pattern(direction, size, count)
            old, (new, reason) = before[direction][0], after[direction]
            choices.append(Choice(pattern, old, new, reason, gain_of(measured, pattern, old, new)))
    return sorted(choices, key=lambda one: PATTERNS.index(one.pattern))


def _asked(
    measured: Measured,
    folder: Path,
    size: int,
    count: int,
    profile: str,
    environ: Mapping[str, str],
) -> dict[str, tuple[str, str]]:
    """By direction: path and reason, as the program `hints` tells them."""
    numbers = (measured.node_ranks, measured.node_ranks, size, count, measured.cores)
    variables = {
        "HEADRACE_PROFILE": profile,
        "HEADRACE_WRITE_PATH": "automatic",
        "HEADRACE_READ_PATH": "automatic",
        "HEADRACE_QUIET": "0",
        # As jobs here would measure it.
        "HEADRACE_CORE_DISTANCE": f"{measured.core_distance:.0f}",
    }
    done = subprocess.run(
        [find_file("hints", environ), str(folder / "file"), *map(str, numbers)],
        env={**environ, **variables},
        capture_output=True,
        text=True,
        errors="replace",
    )
    refused = REFUSED.search(f"{done.stderr}\n{done.stdout}")
    if refused is not None and profile != "none":
        raise HeadraceError(
            "what would be chosen cannot be told",
            f"the library refuses what was measured: {refused[1]}",
            "see that line",
            1,
        )
    found = {way[:-1]: (path, reason) for way, path, reason in CHOICE.findall(done.stdout)}
    if done.returncode != 0 or set(found) != set(DIRECTIONS):
        why = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise HeadraceError(
            "what would be chosen cannot be told",
            why[-1],
            "see that line, or reinstall headrace",
            1,
        )
    return found


def gain_of(measured: Measured, pattern: Pattern, before: str, after: str) -> Interval | None:
    """How many times as fast one path is as another one, by calls in turns; None where it is the
    same one, or one of them was not measured."""
    if before == after:
        return None
    what = f"collective_{pattern.direction}"
    old = measured.of_path(what, pattern.bytes, before)
    new = measured.of_path(what, pattern.bytes, after)
    if old is None or new is None:
        return None
    count = min(len(old.seconds), len(new.seconds))
    return paired_ratio(old.seconds[:count], new.seconds[:count])
