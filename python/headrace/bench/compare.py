"""Compares the ways of a job under each wanted MPI, in a directory of its own."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from headrace.bench.comparison import Comparison, run_rounds, start
from headrace.bench.jobs import Job
from headrace.bench.runner import find_wanted
from headrace.bench.workspace import surroundings, workspace
from headrace.errors import say


def compare_ways(
    name: str,
    job: Job,
    wanted: str,
    rounds: int,
    directory: Path | None,
    environ: Mapping[str, str],
    found: list[Comparison],
) -> None:
    """Adds to `found` a comparison for each MPI of a value of --mpi, also one whose last rounds
    fail. Says on stderr, by `name`, what is done."""
    base = directory or Path(tempfile.gettempdir())
    with workspace(base) as folder:
        say(f"files in {surroundings(base)}")
        for host in find_wanted([wanted], environ, say):

            def progress(text: str, title: str = host.title) -> None:
                say(f"{name}, {title}: {text}")

            comparison = start(job, host, folder, environ, progress)
            try:
                run_rounds(comparison, folder, environ, progress, rounds, rounds, 0)
            finally:
                if comparison.rounds:
                    found.append(comparison)
