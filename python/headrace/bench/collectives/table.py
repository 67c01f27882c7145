"""Times of collective operations -> the table that HEADRACE_COLL_TABLE names: pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import floor

from headrace.bench.collectives.findings import LIBRARIES, OTHER, WITHOUT_SIZE, Job
from headrace.bench.collectives.nodes import SPARES_BYTES, Nodes

# Below this a gain is not worth a path of our own.
LEAST_GAIN = 1.03
# A table of ours begins so.
FIRST_WORDS = "# Which collective operations Headrace carries out"
# Bytes: what wins with so few wins with fewer.
SMALLEST = 8

Key = tuple[str, Nodes, str]  # library, where it was measured, operation
Gains = Mapping[int, float]  # bytes of a rank's block -> times as fast, at the least


def gains(jobs: Iterable[Job]) -> dict[Key, dict[int, float]]:
    """How many times as fast Headrace surely is, in each job of a library on such nodes and on
    others for which that counts: the least lower end of an interval. 0 where a job was too short,
    wrong, or left to the library."""
    measured: dict[Key, dict[int, float]] = {}
    for job in jobs:
        if job.kind == OTHER or not job.has_even_nodes:
            continue
        for cell in job.cells:
            ratio = cell.speedup
            counts = ratio.is_confident and cell.by_layer and not cell.wrong
            key = LIBRARIES[job.kind], job.measured_on, cell.operation
            sizes = measured.setdefault(key, {})
            gain = ratio.low if counts else 0.0
            sizes[cell.bytes] = min(gain, sizes.get(cell.bytes, gain))
    return {key: _least(key, measured) for key in measured}


def _least(key: Key, measured: Mapping[Key, Gains]) -> dict[int, float]:
    """Of the sizes measured on such nodes, and of others that lost where these rows would count."""
    library, nodes, operation = key
    found = dict(measured[key])
    for (of_library, on, of), gains_there in measured.items():
        if (of_library, of) != (library, operation) or not nodes.holds_on(on, operation):
            continue
        for size, gain in gains_there.items():
            if size in found or gain < LEAST_GAIN:
                found[size] = min(gain, found.get(size, gain))
    return found


def ranges(sizes: Gains) -> list[tuple[int, int, float]]:
    """Ranges of bytes, both ends included, of neighbouring sizes that all gain: (least, most, the
    least gain). Nothing is taken beyond a size that was measured, but below SMALLEST."""
    found: list[tuple[int, int, float]] = []
    is_open = False
    for size in sorted(sizes):
        gain = sizes[size]
        if gain < LEAST_GAIN:
            is_open = False
            continue
        if is_open:
            least, _, before = found.pop()
            found.append((least, size, min(before, gain)))
        else:
            found.append((min(1, size) if size <= SMALLEST else size, size, gain))
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
        f"{FIRST_WORDS}: HEADRACE_COLL_TABLE names this file.",
        "# Bytes of one rank's block, and how many times as fast, at the least; 0-0: all sizes.",
        "# one.4: measured with 4 ranks on one node; counts with 2 to 4.",
        "# several.4x2: measured on 4 nodes of 2 ranks; counts on 2 to 4 nodes of 2 or more,",
        "# but gather(v), scatter(v), alltoallv and alltoallw on such nodes alone.",
        "# crowded: measured with more ranks than cores; counts there alone, and others never do.",
        "",
        "[origin]",
        f"machine = {_text(machine)}",
        f"date = {_text(dates)}",
        f"jobs = {_text('; '.join(job.line for job in jobs))}",
    ]
    header = ""
    for (library, nodes, operation), sizes in sorted(gains(jobs).items()):
        found = _ranges(operation, sizes)
        if not found:
            continue
        if header != (header := f"[{library}.{nodes.key}]"):
            lines += ["", header]
        texts = [f"{least}-{most} {_down(gain):g}" for least, most, gain in found]
        lines.append(f'{operation} = "{", ".join(texts)}"')
    return "\n".join([*lines, *more]) + "\n"


def told(jobs: Sequence[Job]) -> list[str]:
    """Where the table counts, and what has no place in it."""
    found = gains(jobs)
    taken: dict[tuple[str, Nodes], set[str]] = {}
    for (library, nodes, operation), sizes in found.items():
        if _ranges(operation, sizes):
            taken.setdefault((library, nodes), set()).add(operation)
    measured = sorted({(library, nodes) for library, nodes, _ in found})
    lines = [
        f"what was measured of {library} on {nodes.text} counts on "
        + (nodes.range_text if taken[library, nodes] & {*SPARES_BYTES} else f"{nodes.text} alone")
        if (library, nodes) in taken
        else f"nothing that was measured of {library} on {nodes.text} is surely faster, so it is "
        "left to the library there"
        for library, nodes in measured
    ]
    uneven = dict.fromkeys(job.title for job in jobs if not job.has_even_nodes)
    lines += [
        f"{title} are left out (the nodes have different numbers of ranks, of which nobody could "
        "say where they count), give each node as many"
        for title in uneven
    ]
    strange = dict.fromkeys(job.mpi for job in jobs if job.kind == OTHER)
    return lines + [
        f"'{mpi}' is left out (tables have {', '.join(sorted(set(LIBRARIES.values())))} alone)"
        for mpi in strange
    ]


def _ranges(operation: str, sizes: Gains) -> list[tuple[int, int, float]]:
    return for_all_sizes(sizes) if operation in WITHOUT_SIZE else ranges(sizes)


def _down(gain: float) -> float:
    return floor(gain * 100) / 100


def _text(text: str) -> str:
    """A text of TOML on one line; JSON's escapes are TOML's, too."""
    return json.dumps(text, ensure_ascii=True)
