"""Where ranks ran."""

from collections.abc import Iterable
from dataclasses import dataclass

from headrace.analysis.run import Rank


@dataclass(frozen=True)
class Place:
    """Ranks of a node that were bound to the same cores. peak_memory: bytes, of the largest.
    cpu_user, cpu_system: ns, of all together."""

    node: int
    host: str
    cores: str
    program: str
    ranks: tuple[int, ...]
    peak_memory: int
    cpu_user: int
    cpu_system: int


def placement(ranks: Iterable[Rank]) -> tuple[Place, ...]:
    found: dict[tuple[int, str, str, str], list[Rank]] = {}
    for one in ranks:
        found.setdefault((one.node, one.host, one.cores, one.program), []).append(one)
    return tuple(
        Place(
            *key,
            tuple(one.rank for one in group),
            max(one.peak_memory for one in group),
            sum(one.cpu_user for one in group),
            sum(one.cpu_system for one in group),
        )
        for key, group in sorted(found.items(), key=lambda item: item[1][0].rank)
    )
