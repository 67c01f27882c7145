"""The algorithms that a table of collective operations gives a job of the library's own."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace import machine
from headrace.algorithms.decision import Decided, Job, decide
from headrace.algorithms.standing import hidden, said
from headrace.algorithms.table import Table, read_table
from headrace.algorithms.variables import Set, library_named, setting
from headrace.errors import HeadraceError
from headrace.launch.cache import folder_for_files, write
from headrace.launch.line_facts import assigning_words, kind_of_line, size_of_line
from headrace.launchers.detection import version_text
from headrace.launchers.families import HYDRA, OPENMPI, Family
from headrace.launchers.job_size import JobSize
from headrace.launchers.line import read_contexts
from headrace.mpi.installed import Mpi, from_library, version_in
from headrace.mpi.program import examine
from headrace.settings.resolver import Resolution

SWITCH, TABLE, ORDER = "HEADRACE_COLL_LIBRARY", "HEADRACE_COLL_TABLE", "HEADRACE_COLL_ORDER"
# Tells the ranks, and so the record, what was set.
TOLD = "HEADRACE_COLL_LIBRARY_SET"
# Variables that name nodes.
HOST_FILES = (
    "HYDRA_HOST_FILE",
    *("I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_HOSTS", "I_MPI_HYDRA_MACHINE_FILE"),
    "I_MPI_HYDRA_HOSTS_GROUP",
    *("OMPI_MCA_orte_default_hostfile", "OMPI_MCA_hostfile", "PRTE_MCA_prte_default_hostfile"),
)
MOST_CONFIGURATION = 1 << 20  # bytes


@dataclass(frozen=True)
class Tuned:
    """variables: for the ranks. notes: what was decided, for who asks. warnings: for everybody."""

    variables: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def tuned_line(
    line: Sequence[str],
    launcher: Path,
    family: Family,
    settings: Resolution,
    environ: Mapping[str, str],
) -> Tuned:
    """For the job that a launcher line starts."""
    table = _table(settings)
    if table is None:
        return Tuned()
    option = hidden(_options(line, family))
    if option:
        return _left(table, f"{option} on the launcher's line may set them")
    text = version_text(launcher, environ) if family is HYDRA else ""
    size = size_of_line(line, family, environ, text)
    kind, version, prefix = _library_of_line(line, launcher, family, environ)
    job = Job(kind, version, size.ranks, _is_on_one_node(size, family, environ))
    words = assigning_words(line, family)
    return _tuned(table, job, prefix, words, settings, environ)


def tuned_program(mpi: Mpi, ranks: int, settings: Resolution, environ: Mapping[str, str]) -> Tuned:
    """For ranks that start on this node, or wherever a scheduler puts them."""
    table = _table(settings)
    if table is None:
        return Tuned()
    job = Job(mpi.kind, mpi.version, ranks, not _may_be_elsewhere(environ))
    return _tuned(table, job, mpi.prefix, (), settings, environ)


def _table(settings: Resolution) -> Table | None:
    """None if nothing is asked for, or if it is switched off."""
    name = settings.settings[TABLE].text
    wanted = settings.value(SWITCH) is True and settings.value("HEADRACE_DISABLE") is not True
    return read_table(Path(name)) if name and wanted else None


def _left(table: Table, why: str) -> Tuned:
    notes = (f"the library's algorithms are left as they are: {why}",) if table.sections else ()
    return Tuned(notes=notes, warnings=table.problems)


def _tuned(
    table: Table,
    job: Job,
    prefix: Path | None,
    words: Sequence[str],
    settings: Resolution,
    environ: Mapping[str, str],
) -> Tuned:
    names = []
    if job.library:
        library = library_named(job.library)
        texts = _configuration(library.files, prefix, environ)
        names = said(library, {**environ, **settings.variables}, words, texts)
    keeps_order = settings.value(ORDER) == "library"
    decided = decide(job, table, names, keeps_order)
    if decided.obstacle:
        return _left(table, decided.obstacle)
    made = setting(job.library, decided.taken, job.ranks, folder_for_files(environ, "rules"))
    if made.file is not None:
        try:
            write(made.file)
        except HeadraceError as error:  # the job does without
            return Tuned(warnings=(*table.problems, str(error)))
    told = {TOLD: _summary(decided)} if decided.taken else {}
    notes = _notes(decided, made, job, settings)
    return Tuned({**made.variables, **told}, notes, table.problems)


def _summary(decided: Decided) -> str:
    taken = (one for one in decided.decisions if one.is_taken)
    return "; ".join(
        f"{one.operation} by {', '.join(choice.shown for choice in one.choices)}" for one in taken
    )


def _notes(decided: Decided, made: Set, job: Job, settings: Resolution) -> tuple[str, ...]:
    place = settings.settings[TABLE]
    notes = []
    for one in decided.decisions:
        shown = f"{one.operation} by {', '.join(choice.shown for choice in one.choices)}"
        notes.append(shown if one.is_taken else f"not {shown}: {one.why}")
    for name, value in made.variables.items():
        why = f"'{place.text}' has it of {job.ranks} ranks on one node, {job.library} {job.version}"
        notes.append(f"{name}={value}: {why}")
    return tuple(notes)


def _is_on_one_node(size: JobSize, family: Family, environ: Mapping[str, str]) -> bool:
    """Whether it surely is."""
    if size.hosts:
        return len(size.hosts) == 1
    return family in (HYDRA, OPENMPI) and not _may_be_elsewhere(environ)


def _may_be_elsewhere(environ: Mapping[str, str]) -> bool:
    """Whether a launcher without a list of nodes may start ranks on others than this one."""
    return machine.in_batch_job(environ) or any(map(environ.get, HOST_FILES))


def _options(line: Sequence[str], family: Family) -> list[str]:
    """The names of the launcher's options."""
    contexts = read_contexts(family, list(line))
    return [option.name for context in contexts for option in context.options]


def _library_of_line(
    line: Sequence[str], launcher: Path, family: Family, environ: Mapping[str, str]
) -> tuple[str, str, Path | None]:
    """Kind, version and place of the library of the ranks: of all programs that can be looked at,
    else of the launcher. "" for what is not known, or differs."""
    found = set()
    for context in read_contexts(family, list(line)):
        mpi = None
        if context.program is not None:
            mpi = _library_of(line[context.program : context.end], environ)
        found.add(mpi and (mpi.kind, mpi.version, mpi.prefix))
    if len(found) == 1 and None not in found:
        return found.pop()
    if found != {None} or family not in (HYDRA, OPENMPI):
        return "", "", None
    text = version_text(launcher, environ)
    return kind_of_line(line, family, text, environ), version_in(text), launcher.parent.parent


def _library_of(command: Sequence[str], environ: Mapping[str, str]) -> Mpi | None:
    try:
        program = examine(command, environ)
    except HeadraceError:
        return None  # it may be there on the nodes only
    return from_library(program.library, environ) if program.library is not None else None


def _configuration(
    names: Sequence[str], prefix: Path | None, environ: Mapping[str, str]
) -> dict[str, str]:
    """The texts of those files that are there, and can be read."""
    texts = {}
    home = environ.get("HOME") or os.path.expanduser("~")
    for name in names:
        if "{prefix}" in name and prefix is None:
            continue
        path = Path(name.replace("~", home, 1).replace("{prefix}", str(prefix)))
        try:
            if path.is_file():
                with path.open("rb") as stream:
                    texts[str(path)] = stream.read(MOST_CONFIGURATION).decode("utf-8", "replace")
        except OSError:
            continue
    return texts
