"""Runs the parts of the demo under each MPI, in its time."""

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from headrace.bench.comparison import Comparison, run_rounds, start
from headrace.bench.programs import kinds_of
from headrace.bench.runner import Host, find_wanted
from headrace.bench.workspace import surroundings, workspace
from headrace.demo.progress import DemoProgress
from headrace.demo.sizing import PARTS, sized_job
from headrace.errors import HeadraceError

MOST_ROUNDS = 25


def run_demo(
    console: Console,
    wanted: str,
    seconds: float,
    directory: Path | None,
    environ: Mapping[str, str],
    finish: Callable[[list[Comparison], Host, Path], None],
) -> list[Comparison]:
    """The comparisons under the MPIs of a value of --mpi, in about `seconds` for each. `finish` is
    called at the end, with the first MPI and a folder that is still there; also with what there is
    where an MPI fails later on."""
    base = directory or Path(tempfile.gettempdir())
    total = seconds * len(kinds_of(wanted))
    comparisons: list[Comparison] = []
    failure: HeadraceError | None = None

    def tell(text: str) -> None:
        console.print(text, markup=False, highlight=False)

    with workspace(base) as folder:
        with DemoProgress(console, total) as progress:
            console.print(
                f"Headrace demo in {surroundings(base)}, about {total:.0f} s", highlight=False
            )
            hosts = find_wanted([wanted], environ, tell)
            try:
                for host in hosts:
                    _run_parts(host, seconds, folder, environ, progress, comparisons)
            except HeadraceError as error:
                if not comparisons:
                    raise
                failure = error
        finish(comparisons, hosts[0], folder)
    if failure is not None:
        raise failure
    return comparisons


def _run_parts(
    host: Host,
    seconds: float,
    folder: Path,
    environ: Mapping[str, str],
    progress: DemoProgress,
    found: list[Comparison],
) -> None:
    end = time.monotonic()
    for part in PARTS:
        budget = part.share * seconds
        end += budget
        key = part.make(part.sizes[-1]).key

        def tell(text: str, key: str = key) -> None:
            progress.tell(f"{host.title}, {key}: {text}")

        job = sized_job(part, budget, host, folder, environ, tell)
        comparison = start(job, host, folder, environ, tell)
        try:
            run_rounds(comparison, folder, environ, tell, part.fewest, MOST_ROUNDS, end)
        finally:
            if comparison.rounds:
                found.append(comparison)


def show_next_steps(console: Console) -> None:
    """What a user may try after the demo."""
    console.print()
    console.print("Run your own program:   ./dev headrace run -n 4 ./app", highlight=False)
    console.print(
        "Compare at other sizes: ./dev headrace bench compare ior -- -s 500 -b 1m -t 1m",
        highlight=False,
    )
