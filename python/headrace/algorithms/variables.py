"""Choices of algorithms -> variables for the ranks, and a file that these name. Pure functions."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headrace.algorithms.generated.table import KNOBS, LIBRARIES
from headrace.algorithms.knob import MOST_BYTES, Choice, Knob, Library

# Of Open MPI's coll/tuned: its own choice, and what follows an algorithm in a rule.
OWN_CHOICE = "0"
RULE_REST = "0 0"
RULES_VARIABLE = "OMPI_MCA_coll_tuned_use_dynamic_rules"


@dataclass(frozen=True)
class Set:
    """variables: for the ranks. file: what one of them names, and has to be written first."""

    variables: Mapping[str, str] = field(default_factory=dict)
    file: tuple[Path, str] | None = None


def library_named(name: str) -> Library:
    return next(one for one in LIBRARIES if one.name == name)


def knob_of(library: str, operation: str) -> Knob | None:
    found = (one for one in KNOBS if (one.library, one.operation) == (library, operation))
    return next(found, None)


def setting(library: str, choices: Iterable[Choice], ranks: int, folder: Path) -> Set:
    """What lets a library go by `choices`, of which those of an operation do not overlap: on
    communicators of `ranks` ranks, if it can tell them apart. folder: where a file would be. Raises
    KeyError for what the library does not have."""
    by_knob: dict[str, tuple[Knob, list[Choice]]] = {}
    for choice in sorted(choices, key=lambda one: one.least):
        knob = knob_of(library, choice.operation)
        if knob is None:
            raise KeyError(choice.operation)
        by_knob.setdefault(choice.operation, (knob, []))[1].append(choice)
    form = library_named(library).form
    variables: dict[str, str] = {}
    rules = []
    for knob, chosen in by_knob.values():
        if knob.rule:
            rules.append(_rules(knob, chosen, ranks))
            continue
        write = _ranges if form == "ranges" else _one
        variables |= {knob.variable: write(knob, chosen, ranks), **knob.also}
    if not rules:
        return Set(variables)
    text = "\n".join([str(len(rules)), *rules]) + "\n"
    # The same rules have the same file, so that files do not pile up.
    path = folder / f"rules-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    variable = next(knob.variable for knob, _ in by_knob.values() if knob.rule)
    return Set({**variables, RULES_VARIABLE: "1", variable: str(path)}, (path, text))


def _one(knob: Knob, chosen: list[Choice], _ranks: int) -> str:
    return knob.algorithms[chosen[0].algorithm]


def _ranges(knob: Knob, chosen: list[Choice], ranks: int) -> str:
    """Intel MPI's: PRESET:LEAST-MOST;..."""
    parts = []
    for one in chosen:
        least, most = _library_bytes(knob, one, ranks)
        parts.append(f"{knob.algorithms[one.algorithm]}:{least}-{min(most, MOST_BYTES)}")
    return ";".join(parts)


def _rules(knob: Knob, chosen: list[Choice], ranks: int) -> str:
    """An operation in Open MPI's file. A rule counts from its number of ranks and of bytes on, to
    the next one, and the first also below; so communicators of other sizes have rules that leave it
    to the library."""
    steps = {0: OWN_CHOICE}
    for one in chosen:
        least, most = _library_bytes(knob, one, ranks)
        steps[least] = knob.algorithms[one.algorithm]
        if not one.is_for_all_sizes:
            steps.setdefault(most + 1, OWN_CHOICE)
    lines = [f"{least} {value} {RULE_REST}" for least, value in sorted(steps.items())]
    own = f"1\n0 {OWN_CHOICE} {RULE_REST}"
    sizes = [f"0 {own}", f"{ranks} {len(lines)}", *lines, f"{ranks + 1} {own}"]
    return "\n".join([f"{knob.rule} 3", *sizes])


def _library_bytes(knob: Knob, choice: Choice, ranks: int) -> tuple[int, int]:
    """A choice's range in the library's terms."""
    if choice.is_for_all_sizes or not knob.sizes:
        return 0, MOST_BYTES
    of = ranks if knob.sizes == "all" else 1
    return choice.least * of, (choice.most + 1) * of - 1
