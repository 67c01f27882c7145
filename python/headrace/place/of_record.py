"""What a record tells of an order: who sent to whom, and which rank was on which node."""

from dataclasses import dataclass

import numpy as np

from headrace.errors import HeadraceError
from headrace.place.graph import Graph, of_messages
from headrace.place.grid import MOST_RANKS
from headrace.record.tables import Record


@dataclass(frozen=True)
class Recorded:
    """hosts: of each node its name. node_of_rank: where each rank ran. programs: of each rank.
    lost: bytes whose receiver the record does not tell."""

    graph: Graph
    hosts: tuple[str, ...]
    node_of_rank: np.ndarray
    programs: tuple[str, ...]
    lost: int

    @property
    def sizes(self) -> list[int]:
        return np.bincount(self.node_of_rank, minlength=len(self.hosts)).tolist()


def of_record(record: Record) -> Recorded:
    """Raises HeadraceError if ranks are missing, or if the matrix names others."""
    places: dict[int, tuple[int, str]] = {}
    hosts = []
    columns: list[list[int]] = [[], [], []]
    for number, node in enumerate(record.nodes):
        names = node.texts_of("ranks", "host")
        programs = node.texts_of("ranks", "program")
        for rank, program in zip(node["ranks"]["rank"], programs, strict=True):
            places[rank] = (number, program)
        hosts.append(names[0] if names else f"node {number}")
        for column, name in zip(columns, ("rank", "peer", "sent"), strict=True):
            column.extend(node["matrix"][name])
    ranks = _require_ranks(record, places)
    senders, receivers, sent = (np.asarray(one, dtype=np.int64) for one in columns)
    known = receivers >= 0
    if ranks and len(senders) and max(senders.max(), receivers.max()) >= ranks:
        raise _unusable(record, f"its matrix names rank {max(senders.max(), receivers.max())}")
    if (senders < 0).any() or (sent < 0).any():
        raise _unusable(record, "its matrix has a negative number")
    graph = of_messages(ranks, senders[known], receivers[known], sent[known])
    return Recorded(
        graph,
        tuple(hosts),
        np.asarray([places[rank][0] for rank in range(ranks)], dtype=np.int64),
        tuple(places[rank][1] for rank in range(ranks)),
        int(sent[~known].sum()),
    )


def _require_ranks(record: Record, places: dict[int, tuple[int, str]]) -> int:
    told = record.facts.get("ranks", "")
    ranks = int(told) if told.isascii() and told.isdigit() and len(told) < 10 else len(places)
    missing = next((rank for rank in range(min(ranks, MOST_RANKS)) if rank not in places), None)
    if not places:
        raise _unusable(record, "it has no ranks")
    if missing is not None or len(places) != ranks:
        why = f"rank {missing} is missing" if missing is not None else "it has ranks too many"
        raise _unusable(record, why)
    return ranks


def _unusable(record: Record, why: str) -> HeadraceError:
    return HeadraceError(
        f"'{record.path}' gives no order", why, "give the complete record of a run", 1
    )
