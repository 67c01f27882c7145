"""Whether a record has a timeline: calls and regions one by one."""

from dataclasses import dataclass

from headrace.record.tables import Record

SUFFIX = ".hrc"  # of a record


@dataclass(frozen=True)
class Timeline:
    """Of all ranks that have one. events: that are kept, `files` of these calls on files without
    MPI; lost: earlier ones, for which there was no room. record: the name of the record's file;
    empty if it has none."""

    ranks: int
    events: int
    files: int
    lost: int
    record: str


def timeline(record: Record) -> Timeline | None:
    """None if it has none. Events themselves are not read."""
    found = {table: [] for table in ("timelines", "file_timelines")}
    ranks: set[int] = set()
    for node in record.nodes:
        for table, rows in found.items():
            rows.extend(node[table].rows("events", "lost"))
            ranks.update(node[table]["rank"])
    if not ranks:
        return None
    kept = {table: sum(events for events, _ in rows) for table, rows in found.items()}
    lost = sum(lost for rows in found.values() for _, lost in rows)
    return Timeline(
        len(ranks),
        sum(kept.values()),
        kept["file_timelines"],
        lost,
        record.path.name if record.path.suffix == SUFFIX else "",
    )
