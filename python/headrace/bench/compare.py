"""Compares the ways of a job under each wanted MPI, in a directory of its own."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from headrace.bench.comparison import Comparison, run_rounds, start
from headrace.bench.jobs import Job
from headrace.bench.programs import kinds_of
from headrace.bench.runner import find_host
from headrace.bench.workspace import surroundings, workspace
from headrace.errors import say


def compare_ways(
    name: str,
    job: Job,
    wanted: str,
    rounds: int,
    directory: Path | None,
    environ: Mapping[str, str],
) -> list[Comparison]:
    """A comparison for each MPI of a value of --mpi. Says on stderr, by `name`, what is done."""
    comparisons: list[Comparison] = []
    base = directory or Path(tempfile.gettempdir())
    with workspace(base) as folder:
        say(f"files in {surroundings(base)}")
        for kind in kinds_of(wanted):
            host = find_host(kind, environ)

            def progress(text: str, title: str = host.title) -> None:
                say(f"{name}, {title}: {text}")

            comparison = start(job, host, folder, environ, progress)
            run_rounds(comparison, folder, environ, progress, rounds, rounds, 0)
            comparisons.append(comparison)
    return comparisons
