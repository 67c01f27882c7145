"""`headrace tune collectives`."""

import os
import platform
import tempfile
from pathlib import Path

import click

from headrace import machine
from headrace.bench import report
from headrace.bench.collectives import output, table
from headrace.bench.collectives.findings import read_jobs
from headrace.bench.collectives.running import measure
from headrace.bench.runner import find_wanted
from headrace.bench.workspace import workspace
from headrace.commands._options import earlier_option, mpis_option
from headrace.errors import say


@click.command(short_help="Measures which collective operations Headrace should carry out here.")
@click.option(
    "-n",
    "--np",
    "ranks",
    multiple=True,
    type=click.IntRange(min=2),
    default=(2,),
    show_default=True,
    help="Ranks of a job; repeatable. What is taken must win in all.",
)
@mpis_option
@click.option("--most", default="4m", show_default=True, help="The largest size, of a rank.")
@click.option(
    "--batches",
    type=click.IntRange(min=6),
    default=40,
    show_default=True,
    help="Pairs of batches of each size, plain and with Headrace.",
)
@earlier_option("Take what 'headrace bench collectives --always --json' wrote; repeatable.")
@click.argument("file", type=click.Path(dir_okay=False))
def collectives(
    ranks: tuple[int, ...],
    wanted: tuple[str, ...],
    most: str,
    batches: int,
    earlier: tuple[Path, ...],
    file: str,
) -> int:
    """Measure all collective operations that Headrace can carry out on this node, and write to FILE
    where they are surely faster than the MPI library's own.

    \b
    headrace tune collectives -n 2 -n 4 --mpi openmpi table.toml
    HEADRACE_COLLECTIVES=1 HEADRACE_COLL_TABLE=table.toml headrace run -n 4 ./app
    """
    report.require_writable(file)
    if earlier:
        jobs = [job for path in earlier for job in read_jobs(path)]
    else:
        flags = ["--most", most, "--batches", str(batches)]
        with workspace(Path(tempfile.gettempdir())) as folder:
            jobs = [
                measure(host, np, flags, folder, os.environ, always=True)
                for host in find_wanted(wanted, os.environ, say)
                for np in ranks
            ]
    output.show(report.make_console(), jobs)
    cores = machine.available_cores()
    report.write_text(file, table.to_toml(jobs, f"{platform.machine()}, {cores} cores"))
    say(f"the table is in '{file}', set HEADRACE_COLL_TABLE to it")
    return 1 if output.wrong_lines(jobs) else 0
