"""From which size on messages waited for their receivers, as the MPI library told it, and how many
of the program's sends were larger: an estimate, as libraries may wait earlier."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headrace.analysis.calls import BINS, Sums
from headrace.analysis.procedures import STANDARD_SENDS

# Sizes of calls: a bin's first byte is the last one's end (BINS).
_BEGINS = (0, 16, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
assert len(_BEGINS) == len(BINS)


@dataclass(frozen=True)
class EagerLimit:
    """Messages of more bytes wait. variable: the library's, which says so."""

    bytes: int
    variable: str


@dataclass(frozen=True)
class Eager:
    """The limits within nodes and between them, None if the library did not tell. messages: sends
    in MPI's standard mode, of which between `least` and `most` waited; None if not known."""

    node: EagerLimit | None = None
    network: EagerLimit | None = None
    messages: int = 0
    least: int | None = None
    most: int | None = None


NOT_TOLD = Eager()


def eager(facts: Mapping[str, str], nodes: int | None, procedures: Mapping[str, Sums]) -> Eager:
    """nodes: how many the job had; procedures: all their calls."""
    node, network = _limit(facts, "eager_limit_node"), _limit(facts, "eager_limit_network")
    sends = [sums for name, sums in procedures.items() if name in STANDARD_SENDS]
    messages = sum(sums.calls for sums in sends)
    limits = [node] if nodes == 1 else [node, network]
    known = [one.bytes for one in limits if one is not None]
    if len(known) < len(limits):
        return Eager(node, network, messages)
    return Eager(node, network, messages, _surely(sends, max(known)), _perhaps(sends, min(known)))


def limit_in_force(found: Eager, nodes: int | None) -> EagerLimit | None:
    """That of a job on so many nodes; if several, between them."""
    return found.node if nodes == 1 else found.network


def _limit(facts: Mapping[str, str], name: str) -> EagerLimit | None:
    text = facts.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        return None
    return EagerLimit(int(text), facts.get(f"{name}_variable", ""))


def _surely(sends: Iterable[Sums], limit: int) -> int:
    """Sends in bins that begin above the limit."""
    above = [place for place, begin in enumerate(_BEGINS) if begin > limit]
    return sum(sums.bins[place] for sums in sends for place in above)


def _perhaps(sends: Iterable[Sums], limit: int) -> int:
    """Sends in bins that end above the limit."""
    ends = (*(begin - 1 for begin in _BEGINS[1:]), None)
    above = [place for place, end in enumerate(ends) if end is None or end > limit]
    return sum(sums.bins[place] for sums in sends for place in above)
