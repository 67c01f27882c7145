"""What a launcher line tells of its job: its size, its MPI, which of its words set variables."""

from collections.abc import Mapping, Sequence

from headrace.errors import HeadraceError
from headrace.launchers.families import ALPS, HYDRA, OPENMPI, PALS, SLURM, Family
from headrace.launchers.job_size import JobSize, is_intels, job_size
from headrace.launchers.line import read_contexts
from headrace.mpi.kinds import kind_of
from headrace.mpi.program import examine


def size_of_line(
    line: Sequence[str], family: Family, environ: Mapping[str, str], version: str
) -> JobSize:
    """Of the job, as far as the line tells. version: as in job_size."""
    try:
        return job_size(line, family, environ, version)
    except HeadraceError:
        return JobSize()  # the launcher will say so


def assigning_words(line: Sequence[str], family: Family) -> list[str]:
    """Words of a line that may set variables: the launcher's, and NAME=VALUE of env(1) behind."""
    words: list[str] = []
    for context in read_contexts(family, list(line)):
        program = context.end if context.program is None else context.program
        words += line[context.start : program]
        words += (word for word in line[program : context.end] if "=" in word)
    return words


def kind_of_line(
    line: Sequence[str], family: Family, version: str, environ: Mapping[str, str]
) -> str:
    """The kind of MPI that the ranks use; "" if it is not known."""
    if family is HYDRA:
        return "intel" if is_intels(version) else "mpich"
    if family is OPENMPI:
        return "openmpi"
    if family not in (SLURM, ALPS, PALS):
        return ""
    for context in read_contexts(family, list(line)):
        if context.program is not None:
            try:
                program = examine(line[context.program : context.end], environ)
            except HeadraceError:
                continue  # it may be there on the nodes only
            if program.library is not None:
                return kind_of(program.library) or ""
    return ""
