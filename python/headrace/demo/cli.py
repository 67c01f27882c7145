"""`headrace demo`: plain MPI, POSIX or rank 0, and Headrace side by side, in about a minute."""

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console

from headrace.bench import report
from headrace.bench.comparison import Comparison, run_rounds, start
from headrace.bench.options import directory_option, mpi_option
from headrace.bench.programs import kinds_of
from headrace.bench.runner import Host, find_wanted
from headrace.bench.workspace import surroundings, workspace
from headrace.demo.progress import DemoProgress
from headrace.demo.sizing import PARTS, sized_job

MOST_ROUNDS = 25


@click.command()
@mpi_option("MPICH is the embedded one; all: MPICH, Open MPI and Intel MPI.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=5),
    default=60,
    show_default=True,
    help="About how long, for each MPI.",
)
@directory_option(
    "Where the files are made: a disk, a tmpfs, a parallel file system.  [a temporary directory]"
)
def demo(wanted: str, seconds: float, directory: Path | None) -> int:
    """Show on this machine what Headrace does: speed, same bytes, path taken, losses first."""
    console = report.make_console()
    base = directory or Path(tempfile.gettempdir())
    kinds = kinds_of(wanted)
    comparisons: list[Comparison] = []

    def tell(text: str) -> None:
        console.print(text, markup=False, highlight=False)

    with workspace(base) as folder, DemoProgress(console, seconds * len(kinds)) as progress:
        console.print(
            f"Headrace demo in {surroundings(base)}, about {seconds * len(kinds):.0f} s",
            highlight=False,
        )
        for host in find_wanted([wanted], os.environ, tell):
            comparisons += _run_parts(host, seconds, folder, progress)
    console.print()
    report.show(console, comparisons)
    _show_next_steps(console)
    return 0 if comparisons and all(report.is_sound(one) for one in comparisons) else 1


def _run_parts(
    host: Host, seconds: float, folder: Path, progress: DemoProgress
) -> list[Comparison]:
    environ: Mapping[str, str] = os.environ
    result = []
    end = time.monotonic()
    for part in PARTS:
        budget = part.share * seconds
        end += budget
        key = part.make(part.sizes[-1]).key

        def tell(text: str, key: str = key) -> None:
            progress.tell(f"{host.title}, {key}: {text}")

        job = sized_job(part, budget, host, folder, environ, tell)
        comparison = start(job, host, folder, environ, tell)
        run_rounds(comparison, folder, environ, tell, part.fewest, MOST_ROUNDS, end)
        result.append(comparison)
    return result


def _show_next_steps(console: Console) -> None:
    console.print()
    console.print("Run your own program:   ./dev headrace run -n 4 ./app", highlight=False)
    console.print(
        "Compare at other sizes: ./dev headrace bench compare ior -- -s 500 -b 1m -t 1m",
        highlight=False,
    )
