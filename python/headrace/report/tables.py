"""The findings as tables of texts."""

from headrace.analysis.analyse import Findings, Site
from headrace.analysis.eager import Eager
from headrace.analysis.numbers import Balance, ranges
from headrace.analysis.paths import Frame
from headrace.analysis.waiting import Wait
from headrace.report.actions import UNKNOWN
from headrace.report.io_tables import io_tables
from headrace.report.table import MOST_ROWS, Table, more
from headrace.report.units import percent, place, seconds, short_time, size
from headrace.symbols.resolver import Symbols
from headrace.symbols.tools import Line
from headrace.texts import shown

MOST_LINES = 6
MOST_CALLS = 3  # of a region


def tables(found: Findings, symbols: Symbols) -> list[Table]:
    """Those that have rows, in the order of the page."""
    made = [
        _time(found),
        _by_node(found),
        _procedures(found),
        _sizes(found),
        _paths(found, symbols),
        _regions(found),
        _matrix(found),
        _awaited(found),
        *io_tables(found),
        _decisions(found),
        _placement(found),
        _settings(found),
    ]
    return [table for table in made if table.rows]


def balance_cells(one: Balance) -> tuple[str, ...]:
    """Average, greatest, imbalance, and its percentage."""
    return (
        seconds(one.average),
        seconds(one.greatest),
        seconds(one.imbalance),
        percent(one.imbalance_percent),
    )


def _time(found: Findings) -> Table:
    known = [("outside MPI", found.outside), ("in MPI", found.in_mpi)]
    parts = [(name, one) for name, one in known if one is not None]
    inner = "  " if parts else ""
    parts += [(f"{inner}{one.name}", one.balance) for one in found.classes]
    rows = [
        (name, f"{found.share(one.total):.1%}", *balance_cells(one))
        for name, one in parts
        if one.ranks
    ]
    headers = ("time ", "share", "average", "greatest", "imbalance", "imbalance %")
    note = "of a rank; imbalance: greatest - average; "
    if found.outside is None:
        rows += [(name, UNKNOWN, "-", "-", "-", "-") for name in ("computing", "in MPI")]
        note += "I/O: by the outermost of MPI-IO and POSIX, and by STDIO"
    else:
        note += "outside MPI: computing, and I/O not by MPI"
    return Table("Time and balance", headers, rows, note)


BY_NODE = "Balance by node"


def _by_node(found: Findings) -> Table:
    """Of jobs on several nodes: those whose ranks are longest first."""
    times: dict[tuple[int, str], list[int]] = {}
    for one, time in zip(found.run.ranks, found.rank_times.times, strict=False):
        times.setdefault((one.node, one.host), []).append(time)
    if len(times) < 2:
        return Table(BY_NODE, (), [], "")
    ordered = sorted(times.items(), key=lambda item: (-sum(item[1]) / len(item[1]), item[0]))
    rows = [
        (shown(host) or f"node {node}", str(len(own)), *map(seconds, _spread(own)))
        for (node, host), own in ordered[:MOST_ROWS]
    ]
    headers = ("host ", "ranks", "average", "shortest", "longest")
    note = f"of a rank's time {found.rank_times.what}" + more(len(times))
    return Table(BY_NODE, headers, rows, note)


def _spread(times: list[int]) -> tuple[float, float, float]:
    return sum(times) / len(times), min(times), max(times)


def wait(one: Wait | None) -> str:
    if one is None:
        return ""
    least, most = seconds(one.least), seconds(one.most)
    return least if least == most else f"{least} to {most}"


def _procedures(found: Findings) -> Table:
    rows = [
        (
            shown(one.name),
            f"{one.sums.calls:,}",
            size(one.sums.bytes),
            f"{found.share(one.balance.total):.1%}" if one.in_run else "",
            *balance_cells(one.balance),
            short_time(one.sums.greatest),
            wait(one.wait),
        )
        for one in found.procedures[:MOST_ROWS]
    ]
    headers = ("procedure ", "calls", "bytes", "share", "average", "greatest", "imbalance")
    headers += ("imbalance %", "longest call", "wait for others")
    note = "calls, bytes and wait: of all ranks; of two numbers, wait lies between them"
    if found.in_mpi is None:
        headers = headers[:-1]
        rows = [row[:-1] for row in rows]
        note = "calls and bytes: of all ranks; what POSIX does for MPI-IO is in both"
    return Table("Operations", headers, rows, note + more(len(found.procedures)))


def _sizes(found: Findings) -> Table:
    rows = [
        (shown(one.name), *(f"{count:,}" if count else "" for count in one.sums.bins))
        for one in found.procedures[:MOST_ROWS]
        if any(one.sums.bins[1:])
    ]
    note = "; ".join(["of all ranks", *eager_lines(found.eager)])
    return Table("Calls by bytes", ("procedure ", *found.source.bins), rows, note)


def eager_lines(one: Eager) -> list[str]:
    """From which size on messages wait for their receivers, and how many did."""
    limits = (("within a node", one.node), ("between nodes", one.network))
    lines = [
        f"messages {where} of more than {limit.bytes:,} B wait for their receiver "
        f"({shown(limit.variable)})"
        for where, limit in limits
        if limit is not None
    ]
    if one.messages and one.least is not None and one.most is not None:
        many = f"{one.least:,}" if one.least == one.most else f"{one.least:,} to {one.most:,}"
        lines.append(f"an estimate by their sizes: {many} of {one.messages:,} sends did")
    return lines


def line_text(line: Line) -> str:
    where = f" at {place(line.file)}:{line.line}" if line.file else ""
    return f"{shown(line.function)}{where}"


def _paths(found: Findings, symbols: Symbols) -> Table:
    rows = []
    for one in found.sites:
        rows.append(
            (
                shown(one.procedure),
                f"{found.share(one.balance.total):.1%}",
                f"{one.sums.calls:,}",
                size(one.sums.bytes),
                percent(one.balance.imbalance_percent),
                "\n".join(path_lines(one, symbols)) or "unknown",
            )
        )
    headers = ("procedure ", "share", "calls", "bytes", "imbalance %", "called by ")
    return Table(
        "Hottest call paths",
        headers,
        rows,
        "the innermost frame first, but Python's lines before all others",
    )


def path_lines(site: Site, symbols: Symbols) -> list[str]:
    """Without what all paths have: the loader's start of the program, Python's interpreter."""
    return lines_of_path(site.frames, symbols)


def lines_of_path(frames: tuple[Frame, ...], symbols: Symbols) -> list[str]:
    lines = [line_text(one) for one in symbols.of_program(frames)]
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "..."]


def _regions(found: Findings) -> Table:
    rows = [
        (
            shown(one.name),
            f"{one.ranks:,}",
            f"{one.entries:,}",
            f"{found.share(one.time.total):.1%}",
            *balance_cells(one.time),
            seconds(one.own.average),
            "" if one.mpi_share is None else f"{one.mpi_share:.1%}",
            ", ".join(f"{shown(own.procedure)} {own.calls:,}" for own in one.calls[:MOST_CALLS]),
        )
        for one in found.regions[:MOST_ROWS]
    ]
    headers = ("region ", "ranks", "entered", "share", "average", "greatest", "imbalance")
    headers += ("imbalance %", "own", "in MPI", "most costly calls ")
    note = "own: without the regions in it; in MPI and calls: of its own time"
    return Table("Regions", headers, rows, note + more(len(found.regions)))


def rank_text(rank: int) -> str:
    return {-1: "others", -2: "outside"}.get(rank, str(rank))


def _matrix(found: Findings) -> Table:
    rows = [
        (str(one.sender), rank_text(one.receiver), f"{one.messages:,}", size(one.bytes))
        for one in found.heaviest
    ]
    return Table(
        "Who sends most to whom",
        ("from", "to", "messages", "bytes"),
        rows,
        f"the heaviest of {len(found.matrix):,} pairs of ranks; all are in --json",
    )


def _awaited(found: Findings) -> Table:
    rows = [
        (str(one.rank), f"late to a {one.kind}", f"{one.calls:,}", seconds(one.time))
        for one in found.waits.awaited[:MOST_ROWS]
    ]
    note = "of all ranks that waited, within a node: who came last of those that a call needed"
    return Table(
        "For whom ranks waited",
        ("rank", "it came ", "calls", "waiting"),
        rows,
        note + more(len(found.waits.awaited)),
    )


def _decisions(found: Findings) -> Table:
    rows = [
        (
            shown(one.subject),
            shown(one.choice),
            f"{one.times:,}",
            shown(one.reason),
            shown(one.alternatives),
            "-" if one.cost is None else short_time(one.cost),
        )
        for one in found.decisions[:MOST_ROWS]
    ]
    headers = ("subject ", "choice ", "times", "reason ", "alternatives ", "cost")
    return Table("What Headrace chose", headers, rows, more(len(found.decisions))[2:])


def _placement(found: Findings) -> Table:
    rows = [
        (
            shown(one.host),
            shown(ranges(one.ranks)),
            shown(one.cores) or "-",
            shown(one.program),
            size(one.peak_memory),
            seconds(one.cpu_user),
            seconds(one.cpu_system),
        )
        for one in found.placement[:MOST_ROWS]
    ]
    headers = ("host ", "ranks ", "cores ", "program ", "peak memory", "CPU", "CPU of the system")
    note = "memory of the rank with most, CPU time of all ranks" + more(len(found.placement))
    return Table("Placement", headers, rows, note)


def _settings(found: Findings) -> Table:
    """A setting that a variable made is not shown again as a variable."""
    chosen = [one for one in found.settings if one.origin != "default"]
    known = {one.name for one in chosen}
    others = [one for one in found.variables if one.name not in known]
    rows = [
        (shown(one.name), shown(one.value), shown(one.origin), f"{one.nodes:,}")
        for one in (*chosen, *others)
    ]
    note = f"{len(found.settings) - len(chosen)} settings are at their defaults"
    return Table("Settings", ("name ", "value ", "origin ", "nodes"), rows[: 3 * MOST_ROWS], note)
