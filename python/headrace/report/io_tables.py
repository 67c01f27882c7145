"""The findings on files as tables of texts."""

from collections.abc import Sequence

from headrace.analysis.accesses import BINS, Access, Flow
from headrace.analysis.analyse import Findings
from headrace.analysis.families import Family, families, in_one_row, spread
from headrace.analysis.files import File
from headrace.report.table import MOST_ROWS, Table, more
from headrace.report.units import seconds, size
from headrace.texts import shown


def io_tables(found: Findings) -> list[Table]:
    made = families(found.used_files)
    files = in_one_row(found.files, made)
    others = in_one_row(found.accesses, made)
    return [
        _flow(found),
        _files(found, files),
        _families(made),
        _accesses(others),
        _sizes(others),
        _targets(found),
    ]


def _flow(found: Findings) -> Table:
    """From what the program asked for to what reached storage."""
    flows = found.flows
    if flows is None:
        return Table("From the program to storage", (), [])
    both = (flows.read, flows.written)
    if not any(one.asked or one.other for one in both):
        return Table("From the program to storage", (), [])
    rows = [
        _sizes_of("asked of MPI-IO", [one.mpi for one in both]),
        _sizes_of("asked by calls on descriptors (POSIX)", [one.posix for one in both]),
        _sizes_of("asked of streams of C (stdio)", [one.stdio for one in both]),
        _sizes_of("  moved by Headrace for MPI-IO", [one.store for one in both]),
        _sizes_of("  on pipes, sockets and terminals", [one.other for one in both]),
        _sizes_of("  by all system calls of the processes", [one.system for one in both]),
        ("  of these the record accounts for", *map(_seen, both)),
        _sizes_of("    from and to storage", [one.device for one in both]),
    ]
    notes = ["of all ranks together"]
    if flows.mapped:
        notes.append(
            f"{size(flows.mapped)} of files were mapped: what goes through memory is not seen"
        )
    if flows.rings:
        notes.append(f"{flows.rings:,} rings of io_uring: what goes through them is not seen")
    return Table(
        "From the program to storage", ("bytes ", "read", "written"), rows, "; ".join(notes)
    )


def _sizes_of(what: str, sizes: Sequence[int | None]) -> tuple[str, ...]:
    return (what, *map(size, sizes))


def _seen(one: Flow) -> str:
    return _share(one.seen_share)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _files(found: Findings, files: Sequence[File]) -> Table:
    rows = [
        (
            shown(one.name),
            f"{one.ranks:,}",
            f"{one.opens:,}",
            f"{one.reads + one.writes:,}",
            *map(size, (one.read, one.store_read, one.written, one.store_written)),
            *map(seconds, (one.time, one.exchange, one.wait, one.copy, one.store)),
        )
        for one in files[:MOST_ROWS]
    ]
    headers = ("file ", "ranks", "opens", "calls", "read", "from storage", "written", "to storage")
    headers += ("time", "exchange", "wait", "copy", "storage")
    note = "times of all ranks together; -: the MPI library moved the bytes"
    if found.in_mpi is None:
        headers = ("file ", "by ", *headers[1:-4], headers[-1])
        by = [one.interface for one in files]
        rows = [(row[0], each, *row[1:-4], row[-1]) for row, each in zip(rows, by, strict=False)]
        note = (
            "times of all ranks together; storage: what POSIX does for MPI-IO; time beyond that is "
            "exchange and waiting for other ranks; -: not measured"
        )
    return Table("Files", headers, rows, note + more(len(files)))


def _families(made: Sequence[Family]) -> Table:
    rows = []
    for one in made[:MOST_ROWS]:
        read, written, time = (spread(one, what) for what in ("read", "written", "time"))
        rows.append(
            (
                shown(one.name),
                f"{len(one.files):,}",
                f"{one.ranks:,}",
                *map(size, (read.total, read.least, read.greatest)),
                *map(size, (written.total, written.least, written.greatest)),
                *map(seconds, (time.total, time.least, time.greatest)),
            )
        )
    headers = ("files ", "files", "ranks", "read", "least", "greatest")
    headers += ("written", "least", "greatest", "time", "least", "greatest")
    note = "names that differ in digits alone, each used by one rank; least and greatest: of a file"
    return Table("Files of single ranks", headers, rows, note + more(len(made)))


def _accesses(accesses: Sequence[Access]) -> Table:
    rows = [
        (
            shown(one.name),
            one.layer,
            f"{one.ranks:,}",
            f"{one.opens:,}",
            f"{one.reads:,}",
            f"{one.writes:,}",
            "-" if one.seeks is None else f"{one.seeks:,}",
            size(one.read),
            size(one.written),
            _share(one.sequential_share),
            _share(one.aligned_share),
            *map(seconds, (one.read_time, one.write_time, one.other_time)),
        )
        for one in accesses[:MOST_ROWS]
    ]
    headers = ("file ", "by ", "ranks", "opens", "reads", "writes", "seeks", "read", "written")
    headers += ("sequential", "aligned", "reading", "writing", "other")
    note = "times of all ranks together; names with * are of several files"
    return Table("Files used without MPI", headers, rows, note + more(len(accesses)))


def _sizes(accesses: Sequence[Access]) -> Table:
    rows = [row for one in accesses[:MOST_ROWS] for row in _sizes_rows(one)]
    note = "each bin ends at the size above it"
    headers = ("file ", "by ", "what ", *BINS)
    return Table("Files used without MPI: calls by bytes", headers, rows, note)


def _sizes_rows(one: Access) -> list[tuple[str, ...]]:
    both = (("read", one.read_bins), ("write", one.write_bins))
    return [
        (shown(one.name), one.layer, what, *(f"{count:,}" if count else "" for count in bins))
        for what, bins in both
        if any(bins or ())
    ]


def _targets(found: Findings) -> Table:
    rows = [
        (
            str(one.index),
            f"{one.files:,}",
            size(one.bytes),
            *map(seconds, (one.median, one.longest)),
            f"{size(round(1e9 / one.per_byte))}/s",
        )
        for one in found.targets[:MOST_ROWS]
    ]
    headers = ("target", "files", "bytes", "median file", "longest file", "rate of the median file")
    note = "the slowest for a byte first; times of all ranks together in one file"
    return Table("Storage targets", headers, rows, note)
