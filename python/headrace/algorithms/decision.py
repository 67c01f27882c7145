"""Which algorithms a job goes by, and why. Pure functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headrace.algorithms.knob import Choice
from headrace.algorithms.standing import Said, stands, stands_for
from headrace.algorithms.table import Table
from headrace.algorithms.variables import knob_of, library_named


@dataclass(frozen=True)
class Job:
    """What choices depend on. library: its kind, "" if it is not known. version: of the library.
    ranks: 0 if that is not known. is_on_one_node: whether it surely is."""

    library: str
    version: str
    ranks: int
    is_on_one_node: bool


@dataclass(frozen=True)
class Decision:
    """What became of the choices of one operation. why: "" where they are taken."""

    operation: str
    choices: tuple[Choice, ...]
    why: str = ""

    @property
    def is_taken(self) -> bool:
        return not self.why


@dataclass(frozen=True)
class Decided:
    """obstacle: why nothing is set at all, "" where something may be."""

    decisions: tuple[Decision, ...] = ()
    obstacle: str = ""

    @property
    def taken(self) -> list[Choice]:
        return [choice for one in self.decisions if one.is_taken for choice in one.choices]


def decide(job: Job, table: Table, names: Sequence[Said], keeps_order: bool) -> Decided:
    """names: what the user sets. keeps_order: reductions keep the library's order."""
    why = _obstacle(job, table, names)
    if why:
        return Decided(obstacle=why)
    by_operation: dict[str, list[Choice]] = {}
    for choice in table.sections[job.library, job.ranks].choices:
        by_operation.setdefault(choice.operation, []).append(choice)
    return Decided(
        tuple(
            Decision(
                operation, tuple(choices), _why_not(job.library, operation, names, keeps_order)
            )
            for operation, choices in by_operation.items()
        )
    )


def _obstacle(job: Job, table: Table, names: Iterable[Said]) -> str:
    if not table.sections:
        return "the table has none"
    if not job.library:
        return "the MPI library of the ranks is not known"
    if not job.ranks:
        return "the number of ranks is not known"
    if not job.is_on_one_node:
        return "the table is of one node, and the job may be on several"
    section = table.sections.get((job.library, job.ranks))
    if section is None:
        measured = sorted(ranks for library, ranks in table.sections if library == job.library)
        known = ", ".join(map(str, measured))
        of = (
            f"{known} ranks of it were measured, not {job.ranks}"
            if known
            else "it was not measured"
        )
        return f"{job.library}: {of}"
    if section.version != job.version:
        version = job.version or "unknown"
        return f"{section.version} of {job.library} was measured, and this is {version}"
    user = stands(library_named(job.library), names)
    return f"you set {user.name} in {user.where}" if user else ""


def _why_not(library: str, operation: str, names: Iterable[Said], keeps_order: bool) -> str:
    knob = knob_of(library, operation)
    if knob is None:
        return "the library has no choice of it"
    if knob.reduces and keeps_order:
        return "HEADRACE_COLL_ORDER asks for the library's own order of sums"
    user = stands_for(library_named(library), knob, names)
    return f"you set {user.name} in {user.where}" if user else ""
