"""What a log tells of files that the program used by POSIX or STDIO, as the record's analysis has
it. Darshan's POSIX counters below MPI-IO are not the program's own calls, and are left out."""

from collections.abc import Iterable, Sequence

from headrace.analysis.accesses import Access, known_sum
from headrace.analysis.darshan.outer import META, READ, WRITE, OneFile, only_rank, part, ranks_of
from headrace.darshan.counters import BINS
from headrace.darshan.log import Log, Use

_LAYERS = {"POSIX": "posix", "STDIO": "stdio"}


def accesses(log: Log, every: Iterable[OneFile]) -> tuple[Access, ...]:
    """Those that took most time first."""
    made = [_access(log, one) for one in every if one.uses[0].interface in _LAYERS]
    return tuple(sorted(made, key=lambda one: (-(one.time or 0), one.name, one.layer)))


def _access(log: Log, one: OneFile) -> Access:
    uses = one.uses

    def total(*names: str) -> int | None:
        return known_sum(use.count(*names) for use in uses)

    def calls(kind: str) -> int:
        return known_sum(part(use, kind).calls for use in uses) or 0

    def time(kind: str) -> int | None:
        return known_sum(part(use, kind).time for use in uses)

    return Access(
        one.name,
        _LAYERS[uses[0].interface],
        ranks=ranks_of(log, uses),
        opens=calls(META),
        reads=calls(READ),
        writes=calls(WRITE),
        seeks=total("SEEKS"),
        syncs=total("FSYNCS", "FDSYNCS", "FLUSHES"),
        maps=total("MMAPS"),
        read=total("BYTES_READ") or 0,
        written=total("BYTES_WRITTEN") or 0,
        mapped=None,
        read_time=time(READ),
        write_time=time(WRITE),
        other_time=time(META),
        sequential_reads=total("SEQ_READS"),
        consecutive_reads=total("CONSEC_READS"),
        sequential_writes=total("SEQ_WRITES"),
        consecutive_writes=total("CONSEC_WRITES"),
        unaligned=total("FILE_NOT_ALIGNED"),
        block=_greatest(uses, "FILE_ALIGNMENT"),
        furthest_read=_end(uses, "MAX_BYTE_READ", calls(READ)),
        furthest_written=_end(uses, "MAX_BYTE_WRITTEN", calls(WRITE)),
        read_bins=_bins(uses, "READ"),
        write_bins=_bins(uses, "WRITE"),
        only_rank=only_rank(uses),
    )


def _greatest(uses: Iterable[Use], name: str) -> int | None:
    return max((use.counters[name] for use in uses if name in use.counters), default=None)


def _end(uses: Iterable[Use], name: str, calls: int) -> int | None:
    """Darshan has the last byte, not what is behind it; 0 of files without calls, too."""
    last = _greatest(uses, name)
    return last if last is None or not calls else last + 1


def _bins(uses: Sequence[Use], what: str) -> list[int] | None:
    rows = [use.bins(what) for use in uses]
    return None if None in rows else [sum(row[i] for row in rows) for i in range(len(BINS))]
