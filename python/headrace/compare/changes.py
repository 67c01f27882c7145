"""What differs between two groups of runs besides their times, and whether they can be compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headrace.compare.profile import Fact, Profile

KINDS = ("run", "version", "build", "placement", "setting", "variable", "choice")
UNSET = "not set"


@dataclass(frozen=True)
class Change:
    """Of one fact, the values before and after: each once, in the order of the runs."""

    kind: str
    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def varies(self) -> bool:
        """Whether runs of one group differ, so that it may blur the comparison."""
        return len(self.before) > 1 or len(self.after) > 1


def changes(before: Sequence[Profile], after: Sequence[Profile]) -> tuple[Change, ...]:
    """Facts that do not have the same value in all runs."""
    facts = {fact for one in (*before, *after) for fact in one.facts}
    made = [Change(*fact, _values(before, fact), _values(after, fact)) for fact in facts]
    differing = [one for one in made if one.varies or one.before != one.after]
    return tuple(sorted(differing, key=lambda one: (KINDS.index(one.kind), one.name)))


def _values(runs: Sequence[Profile], fact: Fact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.facts.get(fact, UNSET) for one in runs))


def obstacles(before: Sequence[Profile], after: Sequence[Profile]) -> tuple[str, ...]:
    """Why the times of these runs cannot be compared; nothing if they can."""
    runs = (*before, *after)
    found = [
        *_unequal("kinds of files", before, after, lambda one: one.source),
        *_unequal("numbers of ranks", before, after, lambda one: str(one.ranks)),
        *_unequal("programs", before, after, lambda one: ", ".join(one.programs) or "unknown"),
    ]
    found += [f"'{one.file}' is not complete: {'; '.join(one.lacks)}" for one in runs if one.lacks]
    found += [f"'{one.file}' has no time" for one in runs if one.elapsed <= 0]
    return tuple(found)


def _unequal(
    what: str,
    before: Sequence[Profile],
    after: Sequence[Profile],
    value: Callable[[Profile], str],
) -> list[str]:
    had = [", ".join(dict.fromkeys(map(value, runs))) for runs in (before, after)]
    return (
        []
        if len({value(one) for one in (*before, *after)}) == 1
        else [f"the {what} differ: {had[0]} before, {had[1]} after"]
    )
