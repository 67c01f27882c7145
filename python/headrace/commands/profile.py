"""`headrace profile`: runs a program, samples where its CPU time goes, and shows it."""

import sys
from pathlib import Path
from typing import Any

import click

from headrace.commands._findings import job_of, judged
from headrace.commands._launching import launch_options, prepare
from headrace.commands._options import feedback_option
from headrace.commands._printing import fault, printing
from headrace.commands._tracing import offer, planned, tracing_of
from headrace.counters.generated.table import GROUPS
from headrace.errors import HeadraceError, say
from headrace.launch.child import run_child
from headrace.report.terminal import console_of_errors, show_counters, show_profile

HELP = """Run a program and sample where its CPU time goes: functions, callers, lines.

\b
headrace profile mpiexec -n 512 ./app args   any launcher line, unchanged behind 'profile'
headrace profile -n 4 ./app args             finds the program's MPI and its launcher

The program needs no recompiling; with -g lines are shown, too. The samples are in the record of the
run, which 'headrace report' shows again. When the program has ended the profile is shown on stderr.
docs/profile.md explains each number. Options are those of 'headrace run'.

Beside the record it writes APP.apa.toml, which proposes functions of which each call is to be
counted and timed. Edit it, and give it as --apa.
"""


@click.command(
    help=HELP,
    short_help="Shows where a program's CPU time goes.",
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@click.option(
    "--rate",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Samples a second of each thread's CPU time (HEADRACE_SAMPLING_RATE); 100 without it.",
)
@click.option(
    "--counters",
    type=click.Choice([name for name, _ in GROUPS]),
    help="Count a group of events of the processor or the kernel, too (HEADRACE_COUNTERS).",
)
@click.option(
    "--trace",
    metavar="GROUPS",
    help="Count and time each call of groups of functions, such as math,blas,io (HEADRACE_TRACE).",
)
@click.option(
    "--apa",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Trace what this file says, which an earlier run wrote and you have edited.",
)
@click.option(
    "--prologues",
    is_flag=True,
    help="With --apa, change the first instructions of functions that cannot be traced otherwise.",
)
@feedback_option()
@click.option("--quiet", is_flag=True, help="Only record: show nothing when the program has ended.")
@launch_options
def profile(
    rate: int | None,
    counters: str | None,
    trace: str | None,
    apa: Path | None,
    prologues: bool,
    feedback: tuple[Path, ...],
    quiet: bool,
    assignments: tuple[str, ...],
    **options: Any,
) -> None:
    chosen = ["SAMPLING=1", "RECORD=1"]
    chosen += [f"SAMPLING_RATE={rate}"] if rate else []
    chosen += [f"COUNTERS={counters}"] if counters else []
    tracing = tracing_of(trace, apa, prologues)
    given = (*chosen, *tracing.assignments(counters), *assignments)
    verify, files = bool(options["verify"]), tuple(options["files"])
    with planned(tracing, apa, given, verify, files, keep=bool(options["dry_run"])) as named:
        prepared = prepare(assignments=(*named, *given), **options)
        if prepared.launch is None:
            return
        folder = Path(str(prepared.settings.value("HEADRACE_LOGPATH")))
        before = _records(folder)
        code = run_child(prepared.launch)
    try:
        shown = _show(sorted(_records(folder) - before), feedback) if not quiet else []
        for path in shown if apa is None else ():
            offer(path, counters, _line(options))
    except Exception as error:  # the program has run, and its exit code is to be told
        say(str(fault("not all of the profile was shown", error)))
    sys.exit(code)


def _line(options: dict[str, Any]) -> list[str]:
    """Of the program, with the options that say how it is started."""
    made = ["-n", str(options["np"])] if options["np"] is not None else []
    made += ["--mpi", options["wanted"]] if options["wanted"] else []
    made += ["--launcher", options["family_name"]] if options["family_name"] else []
    return [*made, *options["command"]]


def _records(folder: Path) -> set[Path]:
    return set(folder.glob("*.hrc")) if folder.is_dir() else set()


def _show(records: list[Path], feedback: tuple[Path, ...]) -> list[Path]:
    """Returns those that could be shown. A launcher line may have started several jobs."""
    if not records:
        say("no record was made (the lines above say why, or the program called no MPI)")
    shown = []
    for path in records:
        try:
            _show_one(path, feedback)
            shown.append(path)
        except HeadraceError as error:  # the program has run, and its exit code is to be told
            say(str(error))
    return shown


def _show_one(path: Path, feedback: tuple[Path, ...]) -> None:
    job = job_of([path], feedback)
    if job.profile is None:
        say(f"{path} has no samples: the lines above say why")
    judgement = judged(job.findings)
    with printing("profile", sys.stderr):
        out = console_of_errors()
        if job.profile is None:
            show_counters(out, job.counted, job.traced)
        else:
            show_profile(
                out, job.findings, judgement, job.profile, job.listing, job.counted, job.traced
            )
