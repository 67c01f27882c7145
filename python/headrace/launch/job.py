"""What is executed for a launcher line, or for a program and a number of ranks."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headrace import machine
from headrace.errors import HeadraceError, say
from headrace.launch.library_algorithms import tuned_line, tuned_program
from headrace.launch.limiting import limited_line, limited_program
from headrace.launch.ordering import ordered, refuse_order
from headrace.launch.preload import find_library, preload_obstacle
from headrace.launch.start import launch_line
from headrace.launch.values import Launch, RankEnvironment
from headrace.launch.warnings import warn_of_line, warn_of_look_up
from headrace.launch.wrap import wrap
from headrace.launchers.detection import detect, looks_like_launcher
from headrace.launchers.families import FAMILIES
from headrace.mpi.choice import choose, no_mpi, unsupported_mpi
from headrace.mpi.kinds import kind_of
from headrace.mpi.program import Program, examine, locate
from headrace.settings.resolver import Resolution


@dataclass(frozen=True)
class Preload:
    """Headrace as a job gets it. environ: the command's environment with the settings in it."""

    library: Path
    settings: Resolution
    environ: Mapping[str, str]

    @property
    def ranks(self) -> RankEnvironment:
        return RankEnvironment(str(self.library), self.settings.for_ranks())

    @property
    def is_quiet(self) -> bool:
        return self.settings.value("HEADRACE_QUIET") is True


def find_preload(settings: Resolution, environ: Mapping[str, str]) -> Preload:
    """The preload with these settings, one of which may say where its library is."""
    environ = {**environ, **settings.variables, **settings.given}
    return Preload(find_library(environ), settings, environ)


def launch_of_line(line: Sequence[str], family_name: str | None, preload: Preload) -> Launch:
    """`line`, launcher first, as it is executed. family_name: one of FAMILIES, to be taken for the
    launcher's. Says on stderr what will keep the preload out."""
    launcher = locate(line[0], preload.environ)
    family = FAMILIES[family_name] if family_name else detect(launcher, preload.environ)
    if family is None:
        raise _unknown_launcher(line[0])
    if not preload.is_quiet:
        warn_of_line(line, family, preload.environ, preload.library)
    order, notes = ordered(line, launcher, family, preload.settings, preload.environ)
    limits = limited_line(line, launcher, family, preload.settings, preload.environ)
    tuned = tuned_line(line, launcher, family, preload.settings, preload.environ)
    warn((*limits.warnings, *tuned.warnings), preload)
    ranks = preload.ranks
    given = {**ranks.variables, **limits.variables, **tuned.variables, **order.variables}
    launch = wrap(order.line, family, replace(ranks, variables=given), preload.environ)
    # argv[0] stays as given: Open MPI takes an absolute one for a --prefix.
    return replace(
        launch,
        executable=str(launcher),
        notes=tuple(notes),
        explained=limits.notes,
        algorithms=tuned.notes,
        file=order.file,
    )


def warn(lines: Sequence[str], preload: Preload) -> None:
    if not preload.is_quiet:
        for line in lines:
            say(line)


def _unknown_launcher(name: str) -> HeadraceError:
    if looks_like_launcher(Path(name).name):
        why = "its --version names none of " + ", ".join(f for f in FAMILIES if f != "inherit")
        remedy = (
            "name its kind with --launcher; 'inherit' is for those that pass on their environment"
        )
    else:
        why = "it is not mpiexec, mpirun, srun, prterun, orterun, aprun or a variant of them"
        remedy = f"start it as 'headrace run -n N {name}', or name its kind with --launcher"
    return HeadraceError(f"'{name}' is not a launcher Headrace knows", why, remedy)


def launch_of_program(
    command: Sequence[str], np: int, wanted: str | None, preload: Preload
) -> Launch:
    """`np` ranks of `command` under its MPI, or the MPI `wanted`, as they are executed."""
    if looks_like_launcher(Path(command[0]).name):
        raise HeadraceError(
            f"-n {np} before the launcher '{command[0]}' is ambiguous",
            "the launcher has a count of its own",
            f"write 'headrace run {command[0]} -n {np} ...'",
        )
    refuse_order(preload.settings)
    environ = preload.environ
    program = examine(command, environ)
    _refuse(program, preload.library)
    choice = choose(program, wanted, environ)
    if not preload.is_quiet:
        warn_of_look_up(command, {**environ, **choice.variables})
    ranks = preload.ranks
    limits = limited_program(choice.mpi.kind, np, preload.settings, environ)
    tuned = tuned_program(choice.mpi, np, preload.settings, environ)
    warn((*limits.warnings, *tuned.warnings), preload)
    given = {**limits.variables, **tuned.variables, **choice.variables}
    variables = {**ranks.variables, **given}
    launch = launch_line(
        choice.mpi,
        np,
        _resolved(command, environ),
        environ,
        ranks=replace(ranks, variables=variables),
        oversubscribe=np > machine.available_cores() and not machine.in_batch_job(environ),
        as_root=os.geteuid() == 0,
    )
    return replace(launch, explained=limits.notes, algorithms=tuned.notes)


def require_preloadable(command: Sequence[str], library: Path, environ: Mapping[str, str]) -> None:
    """Raises the error for a program that `library` cannot be preloaded into, or whose MPI
    Headrace does not carry."""
    program = examine(command, environ)
    _refuse(program, library)
    if not program.uses_mpi:
        raise no_mpi(program)
    if program.library is not None and kind_of(program.library) is None:
        raise unsupported_mpi(program)


def _refuse(program: Program, library: Path) -> None:
    obstacle = preload_obstacle(program.image, library)
    if obstacle is not None:
        raise HeadraceError(*obstacle)


def _resolved(command: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """`command` with its program as this process finds it: launchers search in other ways."""
    name = command[0]
    return [name if "/" in name else str(locate(name, environ)), *command[1:]]
