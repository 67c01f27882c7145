"""`headrace compare`: what a change did, from records of runs before and after it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from headrace.commands._findings import profile_of
from headrace.commands._printing import fault, printing
from headrace.compare.comparison import NOT_COMPARABLE, Check, status
from headrace.compare.comparison import compare as compare_runs
from headrace.darshan import reader as logs
from headrace.errors import HeadraceError, say
from headrace.report.comparison_document import comparison_document
from headrace.report.comparison_text import show_comparison
from headrace.report.terminal import console

MOST_RUNS = 100  # of a group
ENDINGS = (".hrc", logs.ENDING)
RECORD = click.Path(path_type=Path)

HELP = """Show what a change did: what differs between the runs before and after it, how much
faster it is, where the difference lies, and whether the answers are the same.

\b
headrace compare A B                    one run before the change, one run after it
headrace compare A B A2 B2 A3 B3        several: before, after, before, after, ...
headrace compare --before A --before A2 --after B --after B2      the same, by name
headrace compare old-records/ new-records/                        all records of a directory
headrace compare A B --check 'cmp out.before out.after'           compares the answers, too

Take at least 4 runs each, in turn (A B A2 B2 ...): fewer cannot be told from chance.

\b
exit status
  0  as fast, faster, or slower within --tolerance or by chance
  1  slower by more than --tolerance, and its interval excludes "as fast"
  2  the answers differ: the command of --check failed
  3  not comparable: other ranks or program, a record that is incomplete or cannot be read,
     a wrong command line, a fault of Headrace
"""


class CompareCommand(click.Command):
    """What is wrong with the line or a record ends with a status that means no slow run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise HeadraceError(
                error.format_message().rstrip("."),
                "usage",
                "see 'headrace compare --help'",
                NOT_COMPARABLE,
            ) from error

    def invoke(self, ctx: click.Context) -> int:
        try:
            return super().invoke(ctx)
        except HeadraceError as error:
            error.exit_code = NOT_COMPARABLE
            raise
        except Exception as error:
            raise fault("nothing was compared", error, NOT_COMPARABLE) from error


@click.command(cls=CompareCommand, help=HELP, short_help="Shows what a change did to runs.")
@click.argument("records", nargs=-1, type=RECORD, metavar="[A B [A2 B2 ...]]")
@click.option("--before", multiple=True, type=RECORD, metavar="A", help="A run before the change.")
@click.option("--after", multiple=True, type=RECORD, metavar="B", help="A run after the change.")
@click.option(
    "--check",
    metavar="COMMAND",
    help="A command for the shell that compares the answers; status 0: they are the same.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    help="By how much longer the runs may take.",
)
@click.option("--force", is_flag=True, help="Compare even what is not comparable.")
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
def compare(
    records: tuple[Path, ...],
    before: tuple[Path, ...],
    after: tuple[Path, ...],
    check: str | None,
    tolerance: float,
    force: bool,
    as_json: bool,
) -> int:
    if check is not None and _is_blank(check):
        raise HeadraceError(
            "--check compares no answers", "its command is blank", "give a command, or no --check"
        )
    groups = _groups(records, before, after)
    runs = ([profile_of([file]) for file in files] for files in groups)
    found = compare_runs(*runs, tolerance, force)
    checked = _run_check(check) if check is not None and found.speed_up is not None else None
    with printing("comparison", sys.stdout, NOT_COMPARABLE):
        if as_json:
            click.echo(json.dumps(comparison_document(found, checked), indent=1))
        else:
            if hasattr(sys.stdout, "reconfigure"):
                sys.stdout.reconfigure(errors="backslashreplace")
            show_comparison(console(), found, checked)
    if found.speed_up is None:
        say(f"nothing was compared ({found.obstacles[0]}), give records of like runs, or --force")
    return status(found, checked)


def _groups(
    records: Sequence[Path], before: Sequence[Path], after: Sequence[Path]
) -> tuple[list[Path], list[Path]]:
    """The files of runs before and after the change."""
    if records and (before or after):
        raise _unclear("there are records with and without --before and --after", "use one way")
    if len(records) % 2:
        raise _unclear(
            f"{len(records)} records do not make pairs",
            "give them as A B A2 B2 ..., or with --before and --after",
        )
    groups = (_files(before or records[::2]), _files(after or records[1::2]))
    if not all(groups):
        raise _unclear("a run before the change or one after it is missing", "give both")
    if max(map(len, groups)) > MOST_RUNS:
        raise _unclear(f"a group has more than {MOST_RUNS} runs", "give fewer")
    seen = set()
    for file in (*groups[0], *groups[1]):
        real = os.path.realpath(file)
        if real in seen:
            raise _unclear(f"'{file}' is given twice", "give each run once")
        seen.add(real)
    return groups


def _unclear(why: str, remedy: str) -> HeadraceError:
    return HeadraceError("which runs to compare is not clear", why, remedy)


def _files(given: Sequence[Path]) -> list[Path]:
    """A directory stands for the records in it."""
    found: list[Path] = []
    for path in given:
        try:
            is_folder = path.is_dir()
            inside = (
                sorted(one for end in ENDINGS for one in path.glob(f"*{end}"))
                if is_folder
                else [path]
            )
        except (OSError, ValueError) as error:
            raise HeadraceError(f"'{path}' cannot be read", str(error), "check its name") from error
        if is_folder and not inside:
            raise _unclear(
                f"'{path}' has no record (*{' or *'.join(ENDINGS)})", "give another directory"
            )
        found += inside
    return found


def _is_blank(command: str) -> bool:
    """Of blanks and comments the shell makes status 0, as of answers that are the same."""
    return all(line.strip()[:1] in ("", "#") for line in command.split("\n"))


def _run_check(command: str) -> Check:
    """What it prints goes to stderr: stdout is the comparison's."""
    done = subprocess.run(["sh", "-c", command], stdout=sys.stderr.fileno(), check=False)
    return Check(command, done.returncode)
