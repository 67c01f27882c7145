"""Parts of one job's record, which its nodes made each by itself, as one record."""

from collections.abc import Sequence
from datetime import datetime

from headrace.errors import HeadraceError
from headrace.record.tables import Node, Record

SECONDS_APART = 600  # of the starts of one job's nodes, whose clocks differ


def merge(records: Sequence[Record]) -> Record:
    """One record. Raises HeadraceError if they are not of one job, or two have the same rank."""
    if len(records) == 1:
        return records[0]
    first = records[0]
    seen: dict[int, Record] = {}
    for record in records:
        _check_job(first, record)
        for node in record.nodes:
            for rank in node["ranks"]["rank"]:
                if rank in seen:
                    raise _refusal(
                        record, f"rank {rank} is in '{seen[rank].path}', too", "give each part once"
                    )
                seen[rank] = record
    nodes = sorted((node for record in records for node in record.nodes), key=_first_rank)
    facts = {
        name: value for name, value in first.facts.items() if name not in ("complete", "nodes")
    }
    left_out = [record.facts["left_out"] for record in records if "left_out" in record.facts]
    if left_out:
        facts["left_out"] = "; ".join(left_out)
    if any("lost_calls" in record.facts for record in records):
        facts["lost_calls"] = str(sum(lost_calls(record) for record in records))
    return Record(
        first.path,
        facts,
        [Node(number, node.tables) for number, node in enumerate(nodes)],
        all(record.is_whole for record in records),
        tuple(dict.fromkeys(name for record in records for name in record.missing)),
    )


def _first_rank(node: Node) -> int:
    return min(node["ranks"]["rank"], default=0)


def lost_calls(record: Record) -> int:
    """Calls for which there was no room, as far as the record tells."""
    text = record.facts.get("lost_calls", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0


def _check_job(first: Record, other: Record) -> None:
    same = first.facts.get("ranks") == other.facts.get("ranks")
    starts = [_seconds(record) for record in (first, other)]
    if None not in starts:
        same = same and abs(starts[0] - starts[1]) <= SECONDS_APART
    if not same:
        raise _refusal(other, f"it is not of the job of '{first.path}'", "give parts of one job")


def _refusal(record: Record, why: str, advice: str) -> HeadraceError:
    return HeadraceError(f"'{record.path}' does not belong here", why, advice, 1)


def _seconds(record: Record) -> float | None:
    try:
        return datetime.strptime(record.facts.get("start", ""), "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except (ValueError, OverflowError):
        return None
