"""`headrace run`: puts the layer under a program and becomes its launcher."""

import os
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from headrace import look_up, machine
from headrace.choice import KINDS, STANDARD_ABI, choose
from headrace.errors import NOT_EXECUTABLE, HeadraceError, message, say
from headrace.launch import Launch, Settings, launch_line, own_settings, wrap
from headrace.launchers import FAMILIES, OPENMPI, Family, detect, looks_like_launcher, read_contexts
from headrace.library import find_library
from headrace.program import Program, examine, image_of, locate, preload_obstacle

VERIFY = "HEADRACE_VERIFY"

HELP = """Run a program with Headrace under its MPI.

\b
headrace run mpiexec -n 512 ./app args   any launcher line, unchanged behind 'run'
headrace run -n 4 ./app args             finds the program's MPI and its launcher

The first form gives the ranks, on every node, LD_PRELOAD and the HEADRACE_* variables by the
launcher's own option (-genv, -x, --export, -e); libraries you preload yourself stay in front.
The second form works for C, C++, Fortran and Python (mpi4py) programs; as root it sets Open
MPI's OMPI_ALLOW_RUN_AS_ROOT, and lets it start more ranks than cores outside of a batch job.
Headrace is replaced by the launcher, whose exit code and signals are therefore the command's.
"""


@click.command(
    help=HELP,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@click.option("-n", "--np", type=click.IntRange(min=1), metavar="N", help="Start N ranks.")
@click.option(
    "--mpi",
    "wanted",
    metavar="NAME|PATH",
    help=f"With -n, the MPI to use: {', '.join((*KINDS, STANDARD_ABI))}, or where it is installed.",
)
@click.option(
    "--launcher",
    "family_name",
    type=click.Choice(list(FAMILIES)),
    help="Treat the launcher as this kind; 'inherit': it passes its environment to the ranks.",
)
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set HEADRACE_NAME."
)
@click.option(
    "--verify", is_flag=True, help="Read back and compare every collective write (HEADRACE_VERIFY)."
)
@click.option("--dry-run", is_flag=True, help="Print what would be executed, and do not.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def run(
    np: int | None,
    wanted: str | None,
    family_name: str | None,
    assignments: tuple[str, ...],
    verify: bool,
    dry_run: bool,
    command: tuple[str, ...],
) -> None:
    environ = {**os.environ, **_assigned(assignments), **({VERIFY: "1"} if verify else {})}
    library = find_library(environ)
    settings = Settings(str(library), own_settings(environ))
    if np is None:
        if wanted is not None:
            raise HeadraceError(
                "--mpi has no meaning here",
                "a launcher line already says which MPI it is",
                "leave it out, or give -n N and the program",
            )
        launch = _wrapped(command, family_name, settings, environ, library)
    else:
        if family_name is not None:
            raise HeadraceError(
                "--launcher has no meaning with -n",
                "the launcher is found then",
                "leave one of them out",
            )
        launch = _started(command, np, wanted, settings, environ, library)
    if dry_run:
        click.echo(_shown(launch, os.environ))
    else:
        _become(launch)


def _assigned(assignments: Sequence[str]) -> dict[str, str]:
    result = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.replace("_", "").isalnum():
            raise HeadraceError(
                f"--set {assignment} is not understood",
                "it is not of the form NAME=VALUE",
                "give for example --set QUIET=1",
            )
        result["HEADRACE_" + name.upper().removeprefix("HEADRACE_")] = value
    return result


def _wrapped(
    line: Sequence[str],
    family_name: str | None,
    settings: Settings,
    environ: Mapping[str, str],
    library: Path,
) -> Launch:
    launcher = locate(line[0], environ)
    family = FAMILIES[family_name] if family_name else detect(launcher, environ)
    if family is None:
        raise _unknown_launcher(line[0])
    _warn(line, family, environ, library)
    # argv[0] stays as given: Open MPI takes an absolute one for a --prefix.
    return replace(wrap(line, family, settings, environ), executable=str(launcher))


def _unknown_launcher(name: str) -> HeadraceError:
    if looks_like_launcher(Path(name).name):
        why = "its --version names none of " + ", ".join(f for f in FAMILIES if f != "inherit")
        remedy = "say what it is like with --launcher, 'inherit' if it passes its environment on"
    else:
        why = "it is none of mpiexec, mpirun, srun, prterun, orterun, aprun and their kin"
        remedy = f"start it as 'headrace run -n N {name}', or name its kind with --launcher"
    return HeadraceError(f"'{name}' is not a launcher Headrace knows", why, remedy)


def _warn(line: Sequence[str], family: Family, environ: Mapping[str, str], library: Path) -> None:
    """Says on stderr what will keep the layer out; the line runs all the same."""
    if _is_quiet(environ):
        return
    contexts = read_contexts(family, list(line))
    for context in contexts:
        if context.program is None:
            continue
        _warn_of_look_up(line[context.program : context.end], environ)
        try:
            image = image_of(locate(line[context.program], environ), environ)
        except HeadraceError:
            continue  # The launcher may find it, on another node or in another directory.
        obstacle = preload_obstacle(image, library)
        if obstacle is not None:
            say(message(*obstacle))
    if family is OPENMPI and os.geteuid() == 0 and not _root_allowed(line, environ):
        say(
            message(
                "Open MPI will refuse to start",
                "it does not run as root unless told to",
                "add --allow-run-as-root if you mean it",
            )
        )


def _is_quiet(environ: Mapping[str, str]) -> bool:
    return environ.get("HEADRACE_QUIET", "") not in ("", "0")


def _warn_of_look_up(command: Sequence[str], environ: Mapping[str, str]) -> None:
    warning = look_up.warning(command, environ)
    if warning is not None:
        say(warning)


def _root_allowed(line: Sequence[str], environ: Mapping[str, str]) -> bool:
    allowed = any(
        environ.get(f"{prefix}_ALLOW_RUN_AS_ROOT")
        and environ.get(f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM")
        for prefix in ("OMPI", "PRTE")
    )
    return allowed or "--allow-run-as-root" in line or "-allow-run-as-root" in line


def _started(
    command: Sequence[str],
    np: int,
    wanted: str | None,
    settings: Settings,
    environ: Mapping[str, str],
    library: Path,
) -> Launch:
    if looks_like_launcher(Path(command[0]).name):
        raise HeadraceError(
            f"-n {np} before the launcher '{command[0]}' is ambiguous",
            "the launcher has a count of its own",
            f"write 'headrace run {command[0]} -n {np} ...'",
        )
    program = examine(command, environ)
    _refuse(program, library)
    choice = choose(program, wanted, environ)
    if not _is_quiet(environ):
        _warn_of_look_up(command, {**environ, **choice.variables})
    variables = {**settings.variables, **choice.variables}
    return launch_line(
        choice.mpi,
        np,
        _resolved(command, environ),
        environ,
        settings=Settings(settings.preload, variables),
        oversubscribe=np > machine.available_cores() and not machine.in_batch_job(environ),
        as_root=os.geteuid() == 0,
    )


def _refuse(program: Program, library: Path) -> None:
    obstacle = preload_obstacle(program.image, library)
    if obstacle is not None:
        raise HeadraceError(*obstacle)


def _resolved(command: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """`command` with its program as this process finds it: launchers search in other ways."""
    name = command[0]
    return [name if "/" in name else str(locate(name, environ)), *command[1:]]


def _shown(launch: Launch, before: Mapping[str, str]) -> str:
    changed = [
        f"{name}={value}"
        for name, value in sorted(launch.environ.items())
        if before.get(name) != value
    ]
    return shlex.join([*(["env", *changed] if changed else []), *launch.argv])


def _become(launch: Launch) -> None:
    # Python ignores these two, and a program would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(launch.executable or launch.argv[0], launch.argv, launch.environ)
    except OSError as error:
        raise HeadraceError(
            f"'{launch.argv[0]}' cannot be executed",
            error.strerror or "the system refuses",
            "check its file and its interpreter",
            NOT_EXECUTABLE,
        ) from error
