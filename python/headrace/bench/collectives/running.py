"""Runs the program that measures, and reads what it and Headrace tell."""

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headrace.bench.collectives.findings import WITHOUT_SIZE, Cell, Job
from headrace.bench.collectives.guidelines import GuidelineCell, GuidelineJob
from headrace.bench.programs import find_program
from headrace.bench.runner import Host, end_group, fair_settings, launch, start_captured
from headrace.errors import HeadraceError
from headrace.launch.values import Launch

LIMIT_SECONDS = 3600
PROGRAM = "collectives"
SHOWN = re.compile(
    r"^headrace: (\w+) on (\d+) ranks(?:, from (\d+ (?:B|KiB|MiB)))?: by (.*?)(?: \(.*\))?$",
    re.MULTILINE,
)
# Their sizes, as Headrace tells them, are of all blocks.
OF_ALL_BLOCKS = ("allgatherv", "reduce_scatter")


def measure(
    host: Host,
    ranks: int,
    flags: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    always: bool,
    more: Mapping[str, str] | None = None,
) -> Job:
    """One job in which plain calls and Headrace's alternate. flags: the program's. folder: for its
    results. always: with all that Headrace can carry out, whatever was measured before. more:
    variables for the ranks."""
    document, output = _run(host, ranks, flags, folder, environ, always, more)
    cells = [Cell(**cell, taken=_taken_of(output, cell, ranks)) for cell in document["cells"]]
    return Job(**setup_of(host, ranks, document), cells=cells)


def measure_guidelines(
    host: Host,
    ranks: int,
    flags: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    always: bool,
) -> GuidelineJob:
    """The same, with each operation's emulations by others."""
    document, output = _run(host, ranks, [*flags, "--guidelines"], folder, environ, always)
    cells = [
        GuidelineCell(**cell, taken=_taken_of(output, cell, ranks)) for cell in document["cells"]
    ]
    return GuidelineJob(**setup_of(host, ranks, document), cells=cells)


def measure_plain(
    host: Host,
    ranks: int,
    flags: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    more: Mapping[str, str],
) -> dict[str, Any]:
    """What the program writes of the MPI library alone. more: variables for the ranks."""
    document, _ = _written(
        host,
        ranks,
        [*flags, "--plain"],
        folder,
        environ,
        lambda command: launch(
            host, ranks, command, environ, preload=False, variables=more, bind=True
        ),
    )
    return document


def _run(
    host: Host,
    ranks: int,
    flags: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    always: bool,
    more: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], str]:
    """What the program has written, and all that it and Headrace have said."""
    variables = {
        "HEADRACE_COLLECTIVES": "1",
        "HEADRACE_COLL_DISPLAY": "1",
        "HEADRACE_QUIET": "0",
        **({"HEADRACE_COLL_USE": "always"} if always else {}),
        **(more or {}),
    }

    def line_of(command: Sequence[str]) -> Launch:
        return launch(host, ranks, command, environ, preload=True, variables=variables, bind=True)

    return _written(host, ranks, flags, folder, environ, line_of)


def _written(
    host: Host,
    ranks: int,
    flags: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    line_of: Callable[[Sequence[str]], Launch],
) -> tuple[dict[str, Any], str]:
    results = folder / f"collectives-{host.name}.json"
    results.unlink(missing_ok=True)
    program = str(find_program(PROGRAM, host.name, environ))
    line = line_of([program, *flags, "--json", str(results)])
    with start_captured(line) as child:
        try:
            output, _ = child.communicate(timeout=LIMIT_SECONDS)
        except BaseException:
            end_group(child)
            raise
    # It ends with 1 after a complete run that found wrong results, which we tell.
    if child.returncode not in (0, 1) or not results.is_file():
        raise _failure(host, ranks, child, output)
    return json.loads(results.read_text()), output


def setup_of(host: Host, ranks: int, document: Mapping[str, Any]) -> dict[str, Any]:
    """What Setup has."""
    return {
        "mpi": host.title,
        "kind": host.name,
        "ranks": ranks,
        "nodes": document["nodes"],
        "settings": fair_settings(host, ranks, bind=True),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _taken_of(output: str, cell: Mapping[str, Any], ranks: int) -> str:
    return taken(output, cell["operation"], cell["bytes"], ranks)


def taken(output: str, operation: str, block: int, ranks: int) -> str:
    """What carried an operation out, by the lines of HEADRACE_COLL_DISPLAY. block: bytes."""
    size = block * ranks if operation in OF_ALL_BLOCKS else block
    wanted = None if operation in WITHOUT_SIZE else _size_text(size)
    ways = [
        way
        for name, of, shown, way in SHOWN.findall(output)
        if name == operation and int(of) == ranks and (wanted is None or shown == wanted)
    ]
    return ways[-1] if ways else ""


def _size_text(size: int) -> str:
    """The power of two that a size reaches, as Headrace tells it."""
    power = 1 << (size.bit_length() - 1) if size else 0
    if power < 1 << 10:
        return f"{power} B"
    return f"{power >> 10} KiB" if power < 1 << 20 else f"{power >> 20} MiB"


def _failure(host: Host, ranks: int, child: "subprocess.Popen[str]", output: str) -> HeadraceError:
    marker = f"{PROGRAM}: error: "
    lines = [line for line in output.splitlines() if line.strip()]
    own = [line.split(marker, 1)[1] for line in lines if marker in line]
    why = own[0] if own else f"exit code {child.returncode}" + (f": {lines[-1]}" if lines else "")
    return HeadraceError(
        f"{PROGRAM} failed under {host.title} on {ranks} ranks",
        why,
        "try fewer ranks or a smaller --most",
        1,
    )
