"""Starts benchmark programs by a launcher line of the user's."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from headrace.bench.programs import SUFFIXES, find_program
from headrace.errors import HeadraceError
from headrace.launch.job import find_preload, launch_of_line
from headrace.launch.values import Launch
from headrace.launchers.detection import detect
from headrace.launchers.families import HYDRA, OPENMPI
from headrace.launchers.job_size import nodes_named
from headrace.mpi.choice import at_path, choose
from headrace.mpi.environment import library_environment
from headrace.mpi.installed import Mpi
from headrace.mpi.program import examine, locate
from headrace.settings.resolver import resolve_run


def launch_by_line(
    line: Sequence[str],
    program: str,
    arguments: Sequence[str],
    mpi: str,
    environ: Mapping[str, str],
    own: Mapping[str, str],
) -> Launch:
    """`line` with the program and its arguments behind it, and Headrace in its ranks. mpi: that of
    the ranks, if the launcher does not tell. own: settings of Headrace, over those of environ."""
    environ = {**environ, **own}
    launcher = locate(line[0], environ)
    family = detect(launcher, environ)
    found = _of_launcher(launcher, environ) if family in (HYDRA, OPENMPI) else None
    if found is not None:
        path = find_program(program, found.kind, environ)
        variables = library_environment(found.library, environ)
    else:
        kind = "openmpi" if family is OPENMPI else mpi
        path = find_program(program, kind, environ)
        variables = _otherwise(path, kind, environ)
    environ = {**environ, **variables}
    whole = [*line, str(path), *arguments]
    return launch_of_line(whole, None, find_preload(resolve_run(environ), environ))


def _of_launcher(launcher: Path, environ: Mapping[str, str]) -> Mpi | None:
    """The MPI that a launcher belongs to, if it tells."""
    try:
        found = at_path(launcher.resolve(), environ)
    except HeadraceError:
        return None
    return found if found.kind in SUFFIXES else None


def _otherwise(program: Path, mpi: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """What finds the library of a program that the loader does not find."""
    try:
        found = examine([str(program)], environ)
        return {} if found.library else choose(found, mpi, environ).variables
    except HeadraceError:
        return {}  # it may be there on the nodes only


def nodes_of_line(line: Sequence[str], environ: Mapping[str, str]) -> int:
    """How many nodes a line names or asks for; 0 if it does not say."""
    family = detect(locate(line[0], environ), environ)
    return nodes_named(line, family) if family is not None else 0
