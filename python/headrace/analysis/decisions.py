"""Table `decisions`, added up over ranks."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from headrace.analysis.calls import Sums
from headrace.analysis.files import plus
from headrace.record.tables import Record


@dataclass
class Decision:
    """What Headrace chose. times: calls that went by it, or how often it was chosen. cost: ns;
    None if unknown."""

    subject: str
    choice: str
    reason: str
    alternatives: str
    times: int = 0
    cost: int | None = None


_TEXTS = ("subject", "choice", "reason", "alternatives")


def decisions(record: Record, procedures: Mapping[str, Sums]) -> list[Decision]:
    """Equal ones once, in the order of their first time; those on many files together.
    procedures: what the program called."""
    found: dict[tuple[str, ...], Decision] = {}
    for node in record.nodes:
        texts = zip(*(node.texts_of("decisions", name) for name in _TEXTS), strict=True)
        numbers = node["decisions"].rows("calls", "cost")
        for words, (calls, cost) in zip(texts, numbers, strict=True):
            one = found.setdefault(words, Decision(*words))
            one.times += calls or 1
            one.cost = plus(one.cost, cost)
    return _folded(_seen(found.values(), procedures))


# As src/collective/choice_log.h has it.
_LIBRARY = "the MPI library"


def _seen(decisions: Iterable[Decision], procedures: Mapping[str, Sums]) -> Iterable[Decision]:
    """Of a collective operation whose calls never come to Headrace the recorder alone knows how
    many there were; one that was not called needs no row."""
    for one in decisions:
        if one.choice != _LIBRARY or " " in one.subject:
            yield one
        elif calls := procedures.get(f"MPI_{one.subject.capitalize()}"):
            yield replace(one, times=calls.calls)


# As src/record/decision.h has it.
_OTHERS_MAY_REACH = "HEADRACE_IOBUF names it, and other nodes may reach it"


def held_twice(record: Record) -> tuple[str, ...]:
    """Files that processes of several nodes wrote to through buffers, each as if it were alone."""
    nodes: Counter[str] = Counter()
    for node in record.nodes:
        texts = zip(
            node.texts_of("decisions", "subject"), node.texts_of("decisions", "reason"), strict=True
        )
        names = {_OF_ONE_FILE.fullmatch(of) for of, why in texts if why == _OTHERS_MAY_REACH}
        nodes.update({name[2] for name in names if name and name[2].startswith("/")})
    return tuple(sorted(name for name, count in nodes.items() if count > 1))


_OF_ONE_FILE = re.compile(r"(.* of) '(.*)'", re.DOTALL)
_MOST_ALIKE = 8


def _folded(decisions: Iterable[Decision]) -> list[Decision]:
    """More than a few that differ in a file's name alone, and whose cost is not measured, are one:
    each process may have files of its own."""
    alike: defaultdict[tuple[str, ...], list[Decision]] = defaultdict(list)
    for one in decisions:
        name = _OF_ONE_FILE.fullmatch(one.subject) if one.cost is None else None
        rest = (one.choice, one.reason, one.alternatives)
        alike[name[1] if name else one.subject, str(one.cost), *rest].append(one)
    folded = []
    for (kind, *_), group in alike.items():
        if len(group) <= _MOST_ALIKE:
            folded += group
            continue
        first = _OF_ONE_FILE.fullmatch(group[0].subject)[2]
        subject = f"{kind} {len(group)} files, such as '{first}'"
        times = sum(one.times for one in group)
        folded.append(replace(group[0], subject=subject, times=times))
    return folded
