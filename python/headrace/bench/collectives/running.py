"""Runs the program that measures, and reads what it and Headrace tell."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.bench.collectives.findings import WITHOUT_SIZE, Cell, Job
from headrace.bench.collectives.guidelines import GuidelineCell, GuidelineJob
from headrace.bench.collectives.starting import PROGRAM, OnThisNode, Start
from headrace.bench.runner import output_of, start_captured, why_of
from headrace.errors import HeadraceError, say
from headrace.launch.values import Launch

LIMIT_SECONDS = 3600
PRINT = ("--print",)
# One call of each size and way is enough to be told what carries it out, from the first one on.
SHORT = (*PRINT, "--batches", "1", "--batchTime", "0.001")
TELLING = {"HEADRACE_COLL_DISPLAY": "1", "HEADRACE_COLL_AFTER": "0", "HEADRACE_QUIET": "0"}
RESULTS = re.compile(r"^results\n(.*?)^end of results$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(
    r"^headrace: (\w+) on (\d+) ranks(?:, from (\d+ (?:B|KiB|MiB)))?: by (.*?)"
    r"(?: \((?:(\d+) messages? between nodes)?.*\))?$",
    re.MULTILINE,
)
# Their sizes, as Headrace tells them, are of all blocks.
OF_ALL_BLOCKS = ("allgatherv", "reduce_scatter")


@dataclass(frozen=True)
class Told:
    """What carried an operation out, "" if that is not known, and how many messages between nodes
    its plan has, if it says so."""

    way: str = ""
    messages: int | None = None


def measure(
    start: Start,
    flags: Sequence[str],
    environ: Mapping[str, str],
    always: bool,
    more: Mapping[str, str] | None = None,
) -> Job:
    """One job in which plain calls and Headrace's alternate. flags: the program's. always: with all
    that Headrace can carry out, whatever was measured before. more: variables for the ranks."""
    document, output = _run(start, flags, environ, always, more)
    cells = [_cell(entry, _told_of(output, entry, document)) for entry in document["cells"]]
    return Job(**start.setup(document), cells=cells)


def _cell(entry: Mapping[str, Any], found: Told) -> Cell:
    return Cell(**entry, taken=found.way, planned_messages=found.messages)


def measure_guidelines(
    start: Start, flags: Sequence[str], environ: Mapping[str, str], always: bool
) -> GuidelineJob:
    """The same, with each operation's emulations by others."""
    document, output = _run(start, [*flags, "--guidelines"], environ, always)
    cells = [
        GuidelineCell(**cell, taken=_told_of(output, cell, document).way)
        for cell in document["cells"]
    ]
    return GuidelineJob(**start.setup(document), cells=cells)


def measure_plain(
    start: OnThisNode,
    flags: Sequence[str],
    environ: Mapping[str, str],
    more: Mapping[str, str],
    seconds: int = LIMIT_SECONDS,
) -> dict[str, Any]:
    """What the program writes of the MPI library alone, within `seconds`. more: variables for the
    ranks."""
    line = start.launch([*flags, *PRINT, "--plain"], environ, more, preload=False)
    document, _ = _written(start, line, seconds)
    return document


def _run(
    start: Start,
    flags: Sequence[str],
    environ: Mapping[str, str],
    always: bool,
    more: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], str]:
    """What the program has written, and what Headrace has told in a short job before. Calls that
    are told of take longer: some would not even come to Headrace otherwise."""
    variables = {
        "HEADRACE_COLLECTIVES": "1",
        "HEADRACE_COLL_DISPLAY": "0",
        **({"HEADRACE_COLL_USE": "always"} if always else {}),
        **(more or {}),
    }
    _, told_before = _written(start, start.launch([*flags, *SHORT], environ, variables | TELLING))
    document, _ = _written(start, start.launch([*flags, *PRINT], environ, variables))
    for line in document.get("left_out", ()):
        say(f"{start.title}: {line}")
    return document, told_before


def _written(
    start: Start, line: Launch, seconds: int = LIMIT_SECONDS
) -> tuple[dict[str, Any], str]:
    """Rank 0 may be on another node, whose files we do not see. So it prints its results. Messages
    come by another pipe, since a launcher may pass them on in the middle of a line."""
    with start_captured(line, stderr=subprocess.PIPE) as child:
        written = output_of(child, seconds)
    if written is None:
        raise _failure(start, f"it did not end within {seconds} s")
    results = RESULTS.search(written[0])
    output = "\n".join(written)
    # It ends with 1 after a complete run that found wrong results, which we tell.
    if child.returncode not in (0, 1) or "end of results" not in written[0]:
        raise _failure(start, why_of(PROGRAM, child.returncode, output.splitlines()))
    try:
        return json.loads(results[1] if results else ""), output
    except ValueError as error:
        raise HeadraceError(
            f"{PROGRAM} {start.title} was measured, but its results cannot be read",
            "other output is between them",
            "keep the launcher from labelling lines, and other programs from writing",
            1,
        ) from error


def _told_of(output: str, cell: Mapping[str, Any], document: Mapping[str, Any]) -> Told:
    return told(output, cell["operation"], cell["bytes"], document["ranks"])


def told(output: str, operation: str, block: int, ranks: int) -> Told:
    """By the lines of HEADRACE_COLL_DISPLAY. One without a size is of all sizes that no other line
    is of. block: bytes."""
    size = block * ranks if operation in OF_ALL_BLOCKS else block
    wanted = None if operation in WITHOUT_SIZE else _size_text(size)
    found = [
        (shown, Told(way, int(messages) if messages else None))
        for name, of, shown, way, messages in SHOWN.findall(output)
        if name == operation and int(of) == ranks
    ]
    ways = [way for shown, way in found if wanted in (None, shown)]
    ways = ways or [way for shown, way in found if not shown]
    return ways[-1] if ways else Told()


def _size_text(size: int) -> str:
    """The power of two that a size reaches, as Headrace tells it."""
    power = 1 << (size.bit_length() - 1) if size else 0
    if power < 1 << 10:
        return f"{power} B"
    return f"{power >> 10} KiB" if power < 1 << 20 else f"{power >> 20} MiB"


def _failure(start: Start, why: str) -> HeadraceError:
    return HeadraceError(
        f"{PROGRAM} failed {start.title}", why, "try fewer ranks or a smaller --most", 1
    )
