"""What a comparison needs of one run: small, and in terms that hold for other builds, too."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from headrace.analysis.analyse import Findings, Site
from headrace.analysis.numbers import ranges
from headrace.analysis.procedures import CLASSES
from headrace.analysis.waiting import Wait
from headrace.compare.names import Key, key_of
from headrace.record.tables import Record
from headrace.symbols.resolver import Symbols

MOST_SITES = 1000  # of a run, costliest first; what the others took is one part
OTHER_SITES: Key = ("other call paths", ())
OUTSIDE, OFF, IN_MPI = "outside MPI", "while recording was off", "in MPI"

Fact = tuple[str, str]  # of which kind, and its name


@dataclass
class Part:
    """A part of a run's time. time: ns of the average rank. calls: of all ranks."""

    time: float = 0.0
    calls: int = 0

    def add(self, time: float, calls: int) -> None:
        self.time += time
        self.calls += calls


@dataclass(frozen=True)
class Profile:
    """One run. elapsed: ns of the rank that ran longest, whether recording was on
    or off. programs: names without directories.
    lacks: why the record is not complete. facts: what a change may have changed, each with all
    values that it has in the run, sorted. regions: by name, without those in them; calls are how
    often ranks entered them. wait: ns of the average rank, None if not measured.
    folded: calls under a shorter path than theirs. missing: what the record does not describe."""

    file: str
    ranks: int
    elapsed: int
    programs: tuple[str, ...]
    lacks: tuple[str, ...]
    mpi: str
    command: str
    facts: Mapping[Fact, str]
    classes: Mapping[str, Part]
    procedures: Mapping[str, Part]
    regions: Mapping[str, Part]
    sites: Mapping[Key, Part]
    wait: Wait | None
    problems: Mapping[str, str] = field(default_factory=dict)
    folded: int = 0
    missing: tuple[str, ...] = ()
    source: str = "record"


def profile(
    file: str, found: Findings, symbols: Symbols, facts: Iterable[tuple[Fact, str]] = ()
) -> Profile:
    """`found` has been made with MOST_SITES. facts: further ones, as record_facts() gives them."""
    run = found.run
    size = max(1, len(run.ranks))
    total = found.waits.total
    wait = Wait(total.least // size, total.most // size) if found.waits.procedures else None
    programs = {PurePosixPath(one.program).name for one in run.ranks} or _program(run.command)
    return Profile(
        file=file,
        ranks=run.count,
        elapsed=run.lasted,
        programs=tuple(sorted(programs)),
        lacks=run.lacks,
        mpi=run.mpi,
        command=run.command,
        facts=_facts(found, facts),
        classes=_classes(found),
        procedures={
            one.name: Part(one.balance.average, one.sums.calls)
            for one in found.procedures
            if one.in_run
        },
        regions=_regions(found),
        sites=_sites(found, symbols),
        wait=wait,
        problems=dict(symbols.problems),
        folded=found.quality.folded or 0,
        missing=found.quality.missing,
        source=found.source.name,
    )


def _program(command: str) -> set[str]:
    """The name of the program that a command runs."""
    return {PurePosixPath(command.split()[0]).name} if command.split() else set()


def _classes(found: Findings) -> dict[str, Part]:
    """Time outside MPI, with recording off, in MPI, and the latter by class; or what is known."""
    times = {one.name: one.balance.average for one in found.classes}
    if found.outside is None or found.in_mpi is None:
        return {name: Part(time) for name, time in times.items()}
    off = sum(one.off for one in found.run.ranks) / max(1, len(found.run.ranks))
    average = {OUTSIDE: found.outside.average, OFF: off, IN_MPI: found.in_mpi.average}
    parts = {name: Part(time) for name, time in average.items()}
    return parts | {name: Part(times.get(name, 0.0)) for name in CLASSES}


def _regions(found: Findings) -> dict[str, Part]:
    parts: dict[str, Part] = defaultdict(Part)
    for one in found.regions:
        parts[one.name].add(one.own.average, one.entries)
    return dict(parts)


def _sites(found: Findings, symbols: Symbols) -> dict[Key, Part]:
    parts: dict[Key, Part] = defaultdict(Part)
    for one in found.sites:
        parts[key_of(one, symbols)].add(one.balance.average, one.sums.calls)
    if len(found.sites) == MOST_SITES:
        inside = [one for one in found.procedures if one.in_run]
        time = sum(one.balance.average for one in inside) - _time(found.sites)
        calls = sum(one.sums.calls for one in inside) - sum(one.sums.calls for one in found.sites)
        parts[OTHER_SITES].add(max(0.0, time), calls)
    return dict(parts)


def _time(sites: Iterable[Site]) -> float:
    return sum(one.balance.average for one in sites)


def record_facts(record: Record) -> Iterable[tuple[Fact, str]]:
    """Facts of a record that findings do not have."""
    for name in ("mpi", "abi", "headrace"):
        yield ("version", name), record.facts.get(name, "")
    for name, build_id in _modules(record):
        yield ("build", name), build_id


def _facts(found: Findings, further: Iterable[tuple[Fact, str]]) -> dict[Fact, str]:
    """Settings come before variables: a variable that is a setting's is told once."""
    values: dict[Fact, set[str]] = defaultdict(set)
    for fact, value in further:
        values[fact].add(value)
    for one in found.run.ranks:
        values["run", "program"].add(one.program)
    values["run", "command"].add(found.run.command)
    values["run", "nodes"].add(str(found.run.nodes or ""))
    values["version", "log"].add(found.source.made_by)
    for place in found.placement:
        where = f"ranks {ranges(place.ranks)}"
        values["placement", "hosts"].add(f"{place.host}: {where}")
        values["placement", "cores"].add(f"{where} on {place.cores or 'any'}")
    settings = {one.name for one in found.settings}
    for one in found.settings:
        values["setting", one.name].add(f"{one.value} ({one.origin})")
    for one in found.variables:
        if one.name not in settings:
            values["variable", one.name].add(one.value)
    for one in found.decisions:
        values["choice", one.subject].add(one.choice)
    texts = {fact: "; ".join(sorted(one for one in of if one)) for fact, of in values.items()}
    return {fact: text for fact, text in texts.items() if text}


def _modules(record: Record) -> Iterable[tuple[str, str]]:
    """Programs and libraries that call paths lead through, without their directories."""
    for node in record.nodes:
        files = node.texts_of("modules", "file")
        for file, build_id in zip(files, node.texts_of("modules", "build_id"), strict=True):
            yield PurePosixPath(file).name, build_id
