"""What `headrace profile` traces: its options and the apa file -> settings and the plan of a run;
and the file that it proposes when the run has ended."""

import contextlib
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headrace.commands._findings import record_of
from headrace.counters.generated.table import GROUPS as COUNTERS
from headrace.errors import HeadraceError, say
from headrace.profile.apa import plan as plans
from headrace.profile.apa import reading, writing
from headrace.profile.apa.plan import Plan, plan_of
from headrace.profile.apa.proposal import Proposal, propose
from headrace.profile.apa.values import Apa
from headrace.profile.groups import problem_of
from headrace.profile.samples import Samples
from headrace.settings.resolver import resolve_run
from headrace.texts import shown

MOST_TOLD = 10
DEVICES = Path("/sys/bus/event_source/devices")


@dataclass(frozen=True)
class Tracing:
    """plan: of the functions of an apa file; None without one."""

    groups: tuple[str, ...]
    counters: str
    plan: Plan | None

    def assignments(self, counters: str | None) -> list[str]:
        """counters: those that the command line asks for."""
        made = [f"TRACE={','.join(self.groups)}"] if self.groups else []
        return made + ([f"COUNTERS={self.counters}"] if self.counters and not counters else [])


def tracing_of(groups: str | None, file: Path | None, prologues: bool) -> Tracing:
    """Raises HeadraceError. Says what cannot be traced."""
    asked = _groups(groups)
    if file is None:
        if prologues:
            raise HeadraceError(
                "--prologues has no meaning here",
                "it is for the functions of an apa file",
                "give the file as --apa FILE, too",
            )
        return Tracing(asked, "", None)
    apa, told = reading.read(file)
    for line in told:
        say(line)
    _check_counters(file, apa)
    plan = plan_of(replace(apa, prologues=apa.prologues or prologues))
    _tell(file, plan)
    chosen = tuple(dict.fromkeys((*apa.groups, *asked)))
    if plan.is_empty and not chosen:
        say(f"nothing is traced (nothing in '{file}' can be), edit its groups and functions")
    return Tracing(chosen, apa.counters, plan)


def _groups(text: str | None) -> tuple[str, ...]:
    names = [name.strip().lower() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if problem := problem_of(name):
            raise HeadraceError(f"--trace: '{shown(name)}' cannot be traced", *problem)
    return tuple(dict.fromkeys(names))


def _check_counters(file: Path, apa: Apa) -> None:
    known = [name for name, _ in COUNTERS]
    if apa.counters and apa.counters not in known:
        raise HeadraceError(
            f"'{file}' does not say what to count",
            f"trace.counters is '{shown(apa.counters)}'",
            f"use {', '.join(known)}",
        )


def _tell(file: Path, plan: Plan) -> None:
    for one in plan.refused[:MOST_TOLD]:
        say(f"{shown(one.name)} is not traced ({one.reason})")
    if len(plan.refused) > MOST_TOLD:
        say(f"{len(plan.refused) - MOST_TOLD:,} more functions of '{file}' are not traced")


@contextlib.contextmanager
def planned(
    tracing: Tracing,
    file: Path | None,
    assignments: Sequence[str],
    verify: bool,
    files: tuple[Path, ...],
    keep: bool,
) -> Iterator[list[str]]:
    """The settings that name the plan's file, which is there meanwhile. keep: leave it there."""
    if tracing.plan is None or file is None:
        yield []
        return
    settings = resolve_run(os.environ, assignments, verify, files)
    folder = Path(str(settings.value("HEADRACE_LOGPATH"))).absolute()
    name = writing.plain(file.name.removesuffix(writing.SUFFIX))
    path = plans.write(folder, name, tracing.plan)
    try:
        yield [f"TRACE_PLAN={path}"]
    finally:
        if not keep:
            plans.remove(path)


def offer(path: Path, counters: str | None, line: Sequence[str]) -> None:
    """As `_offer`; what is wrong is said, since the program has run."""
    try:
        _offer(path, counters, line)
    except HeadraceError as error:
        say(str(error))


def _offer(path: Path, counters: str | None, line: Sequence[str]) -> None:
    """Writes what to trace next beside a record, and says where, and what to type. line: of the
    program, behind `headrace profile`."""
    record = record_of(path)
    samples = Samples(record)
    proposal = propose(record, samples, counters or _counters())
    if proposal is None:
        return
    place, is_numbered = writing.place_for(path.parent, proposal.apa.program)
    again = shlex.join(["headrace", "profile", "--apa", str(place), *line])
    count = sum(row.samples for row in samples.rows)
    writing.write(place, writing.text_of(proposal, count, path.name, again))
    if is_numbered:
        say(f"what is there under the name before is kept: you have edited it ({place.parent})")
    say(f"{place} proposes what to trace: {_summary(proposal)}. Edit it, then type")
    say(f"  {again}")


def _summary(proposal: Proposal) -> str:
    chosen = sum(one.trace for one in proposal.apa.functions)
    groups = ", ".join(proposal.apa.groups) or "none"
    return f"{chosen:,} of {len(proposal.apa.functions):,} functions, groups: {groups}"


def _counters() -> str:
    """A group, if this machine's kernel knows counters of its processor."""
    with contextlib.suppress(OSError):
        names = [one.name for one in DEVICES.iterdir()]
        if any(name == "cpu" or name.startswith(("cpu_", "armv8")) for name in names):
            return "summary"
    return ""
