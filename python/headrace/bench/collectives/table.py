"""Times of collective operations -> the table that HEADRACE_COLL_TABLE names: pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import floor

from headrace.bench.collectives.findings import LIBRARIES, WITHOUT_SIZE, Job

# Below this a gain is not worth a path of our own.
LEAST_GAIN = 1.03

Key = tuple[str, str, str]  # library, nodes (one, several), operation
Gains = Mapping[int, float]  # bytes of a rank's block -> times as fast, at the least


def gains(jobs: Iterable[Job]) -> dict[Key, dict[int, float]]:
    """How many times as fast Headrace surely is, in each of the jobs of a library: the least lower
    end of an interval. 0 where a job was too short, wrong, or left to the library."""
    found: dict[Key, dict[int, float]] = {}
    for job in jobs:
        nodes = "one" if job.nodes == 1 else "several"
        for cell in job.cells:
            ratio = cell.speedup
            counts = ratio.is_confident and cell.by_layer and not cell.wrong
            sizes = found.setdefault((LIBRARIES[job.kind], nodes, cell.operation), {})
            gain = ratio.low if counts else 0.0
            sizes[cell.bytes] = min(gain, sizes.get(cell.bytes, gain))
    return found


def ranges(sizes: Gains) -> list[tuple[int, int, float]]:
    """Ranges of bytes, both ends included, of neighbouring sizes that all gain: (least, most, the
    least gain). Nothing is taken beyond a size that was measured, but below the smallest."""
    found: list[tuple[int, int, float]] = []
    is_open = False
    smallest = min(sizes, default=0)
    for size in sorted(sizes):
        gain = sizes[size]
        if gain < LEAST_GAIN:
            is_open = False
            continue
        if is_open:
            least, _, before = found.pop()
            found.append((least, size, min(before, gain)))
        else:
            found.append((min(1, size) if size == smallest else size, size, gain))
        is_open = True
    return found


def for_all_sizes(sizes: Gains) -> list[tuple[int, int, float]]:
    """The range of an operation whose ranks know no common size: all of them, or none."""
    least = min(sizes.values(), default=0.0)
    return [(0, 0, least)] if least >= LEAST_GAIN else []


def to_toml(jobs: Sequence[Job], machine: str, more: Sequence[str] = ()) -> str:
    """The table. machine: what it was measured on, for people. more: lines of further sections."""
    dates = max((job.date for job in jobs), default="")
    lines = [
        "# Which collective operations Headrace carries out: HEADRACE_COLL_TABLE names this file.",
        "# Bytes of one rank's block, and how many times as fast, at the least; 0-0: all sizes.",
        "",
        "[origin]",
        f"machine = {_text(machine)}",
        f"date = {_text(dates)}",
        f"jobs = {_text('; '.join(f'{job.title}, {job.settings}' for job in jobs))}",
    ]
    header = ""
    for (library, nodes, operation), sizes in sorted(gains(jobs).items()):
        found = for_all_sizes(sizes) if operation in WITHOUT_SIZE else ranges(sizes)
        if not found:
            continue
        if header != (header := f"[{library}.{nodes}]"):
            lines += ["", header]
        texts = [f"{least}-{most} {_down(gain):g}" for least, most, gain in found]
        lines.append(f'{operation} = "{", ".join(texts)}"')
    return "\n".join([*lines, *more]) + "\n"


def _down(gain: float) -> float:
    return floor(gain * 100) / 100


def _text(text: str) -> str:
    """A text of TOML on one line; JSON's escapes are TOML's, too."""
    return json.dumps(text, ensure_ascii=True)
