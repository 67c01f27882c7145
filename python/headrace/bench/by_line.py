"""Starts benchmark programs by a launcher line of the user's."""

from collections.abc import Mapping, Sequence

from headrace.bench.programs import SUFFIXES, find_program
from headrace.errors import HeadraceError
from headrace.launch.job import find_preload, launch_of_line
from headrace.launch.values import Launch
from headrace.launchers.detection import detect
from headrace.launchers.families import Family
from headrace.launchers.job_size import nodes_named
from headrace.mpi.choice import at_path
from headrace.mpi.environment import library_environment
from headrace.mpi.program import locate
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
    kind, variables = _of_launcher(line, mpi, environ)
    environ = {**environ, **own, **variables}
    whole = [*line, str(find_program(program, kind, environ)), *arguments]
    return launch_of_line(whole, None, find_preload(resolve_run(environ), environ))


def _of_launcher(
    line: Sequence[str], mpi: str, environ: Mapping[str, str]
) -> tuple[str, Mapping[str, str]]:
    """The MPI that a launcher belongs to, as far as it tells, and what finds its library."""
    launcher = locate(line[0], environ)
    family = detect(launcher, environ)
    kind = "openmpi" if family is not None and family.name == "openmpi" else mpi
    try:
        found = at_path(launcher.resolve(), environ)
    except HeadraceError:
        return kind, {}
    if found.kind not in SUFFIXES:
        return kind, {}
    return found.kind, library_environment(found.library, environ)


def nodes_of_line(line: Sequence[str], environ: Mapping[str, str]) -> int:
    """How many nodes a line names or asks for; 0 if it does not say."""
    family: Family | None = detect(locate(line[0], environ), environ)
    return nodes_named(line, family) if family is not None else 0
