"""The findings as tables, for the terminal and as Markdown alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from headrace.bench.peers import targets
from headrace.bench.peers.grid import Case, Point
from headrace.bench.peers.judgement import (
    SMALL_PIECES,
    Peer,
    Verdict,
    losses,
    mean_ratio,
    strongest_of_all,
)
from headrace.bench.report import verdict as verdict_text
from headrace.statistics import Interval, geometric_mean


@dataclass(frozen=True)
class Table:
    """rows: texts, one for each header. note: a line in place of rows where there are none, else
    below them."""

    title: str
    headers: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""


class Placed(Protocol):
    """What was measured in one access at one point."""

    @property
    def point(self) -> Point: ...
    @property
    def case(self) -> Case: ...
    @property
    def access(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def file_system(self) -> str: ...


def place(one: Placed) -> str:
    """ "tile, pieces of 8 B, write, 2 ranks, tmpfs, MPICH 5.0.2"."""
    point = one.point
    return f"{one.case.title}, {one.access}, {point.ranks} ranks, {one.file_system}, {one.title}"


PLACE_HEADERS = ("job", "access", "ranks", "files in", "MPI")


def place_columns(one: Placed) -> tuple[str, ...]:
    return (one.case.title, one.access, str(one.point.ranks), one.file_system, one.title)


def ratio_text(interval: Interval) -> str:
    return f"{interval.median:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def share_text(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f"{interval.median:.0%} [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


def loss_table(verdicts: Sequence[Verdict]) -> Table:
    rows = [
        (
            *place_columns(one),
            peer.label,
            ratio_text(peer.ratio),
            verdict_text(peer.ratio),
            _noise(one),
        )
        for one, peer in losses(verdicts)
    ]
    lost = {(one.point, one.access): one for one, _ in losses(verdicts)}
    note = f"{len(lost)} of {len(verdicts)} cells are lost: the interval of the ratio is below 1"
    unsure = sum(not one.rate.is_confident for one in lost.values())
    note += f"; {unsure} of them with too few rounds for 95 %." if unsure else "."
    headers = (*PLACE_HEADERS, "against", "ratio", "Headrace is", "other work")
    return Table("Where Headrace loses", headers, rows, note)


def _noise(one: Verdict) -> str:
    return f"{one.others:.0%}{', noisy' if one.is_noisy else ''}"


def cell_table(verdicts: Sequence[Verdict]) -> Table:
    """Every cell: shares of the limit, or of POSIX, and ratios."""
    rows = []
    for one in verdicts:
        rows.append(
            (
                *place_columns(one),
                f"{one.rate.median:.0f}",
                share_text(one.share),
                *_peer_columns(one.default),
                one.best.label if one.best else "",
                *_peer_columns(one.best),
                _noise(one),
            )
        )
    headers = (
        *PLACE_HEADERS,
        *("MiB/s or 1/s", "share", "defaults' share", "ratio"),
        *("best setting", "its share", "ratio", "other work"),
    )
    note = (
        "share: of the limit, or for IOR and MPI_COMM_SELF of POSIX, median of the rounds' shares; "
        "ratio: Headrace to it, median of the rounds' ratios; [lowest, highest] of the 95 % "
        "interval; other work: share of the machine's CPU time"
    )
    return Table("Every cell", headers, rows, note)


def _peer_columns(peer: Peer | None) -> tuple[str, str]:
    if peer is None:
        return ("left out", "")
    return (share_text(peer.share), ratio_text(peer.ratio))


def share_tables(verdicts: Sequence[Verdict], ranks: int) -> list[Table]:
    """For each file system: share of the reference, Headrace and each MPI at its best."""
    mine = [one for one in verdicts if one.point.ranks == ranks and one.share]
    kinds = dict.fromkeys(one.file_system for one in mine)
    return [_share_table([one for one in mine if one.file_system == kind], ranks) for kind in kinds]


def _share_table(verdicts: Sequence[Verdict], ranks: int) -> Table:
    titles = list(dict.fromkeys(one.title for one in verdicts))
    cases = list(dict.fromkeys(one.case for one in verdicts))
    rows = []
    for case in cases:
        for access in ("write", "read"):
            found = {
                one.title: one for one in verdicts if one.case == case and one.access == access
            }
            if found:
                ours = _range([one.share for one in found.values() if one.share])
                theirs = [_best_share(found.get(title)) for title in titles]
                rows.append((f"{case.title}, {access}", ours, *theirs))
    title = f"Share of the limit, {verdicts[0].file_system}, {ranks} ranks"
    note = (
        "Headrace: lowest to highest over the MPIs; each MPI: with its best settings, named where "
        "they are not the defaults. IOR and MPI_COMM_SELF: share of POSIX."
    )
    return Table(title, ("job", "Headrace", *titles), rows, note)


def _range(shares: Sequence[Interval]) -> str:
    low, high = (f(one.median for one in shares) for f in (min, max))
    return f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{100 * low:.0f}-{high:.0%}"


def _best_share(one: Verdict | None) -> str:
    peer = one.strongest if one else None
    if one is None or peer is None or peer.share is None:
        return ""
    setting = "" if peer is one.default else " " + peer.label.removeprefix("plain ")
    return f"{peer.share.median:.0%}{setting}"


def mean_table(verdicts: Sequence[Verdict]) -> Table:
    """Geometric means of the ratios, by ranks, split where pieces become small."""
    rows = []
    for ranks in sorted({one.point.ranks for one in verdicts}):
        mine = [one for one in verdicts if one.point.ranks == ranks and one.counts_for_means]
        large = [one for one in mine if not one.has_small_pieces]
        small = [one for one in mine if one.has_small_pieces]
        for text, part in (
            (f"of {SMALL_PIECES} B and more", large),
            (f"below {SMALL_PIECES} B", small),
        ):
            across = strongest_of_all(part)
            rows.append(
                (
                    f"{ranks} ranks, pieces {text}",
                    _mean_text(*mean_ratio(part, lambda one: one.default)),
                    _mean_text(*mean_ratio(part, lambda one: one.best)),
                    _mean_text(geometric_mean(across) if across else 0.0, len(across)),
                )
            )
    headers = ("cells", "against defaults", "against best settings", "against the best MPI")
    note = (
        "Geometric means of median ratios, in brackets the number of cells; against the best MPI: "
        "Headrace's share of the limit under its slowest MPI to the greatest that any MPI reaches"
    )
    return Table("Headrace to its peers", headers, rows, note)


def _mean_text(mean: float, count: int) -> str:
    return f"{mean:.2f} ({count})" if count else ""


def target_table(verdicts: Sequence[Verdict]) -> Table:
    rows = [_target_row(targets.reached(target, verdicts, place)) for target in targets.TARGETS]
    lost = targets.no_sure_loss(verdicts)
    told = "" if lost.value is None else f"{abs(lost.value):.0f} of {lost.count}"
    rows.append((lost.target.text, "0", told, "", _met(lost.is_met)))
    headers = ("target", "least", "reached", "lowest at", "met")
    note = (
        f"At {targets.DECISIVE_RANKS} ranks unless another number is named. Not measured here: "
        "what a call that exchanges nothing and planning after the first call cost."
    )
    return Table("Targets", headers, rows, note)


def _target_row(one: targets.Reached) -> tuple[str, ...]:
    as_text = "{:.0%}".format if one.target.measure == "share" else "{:.2f}".format
    value = "" if one.value is None else as_text(one.value)
    cells = f" ({one.reaching} of {one.count} cells)" if one.worst else ""
    return (one.target.text, as_text(one.target.least), value + cells, one.worst, _met(one.is_met))


def _met(is_met: bool | None) -> str:
    return "not measured" if is_met is None else "yes" if is_met else "NO"


def markdown(table: Table) -> Iterable[str]:
    """A heading line in bold, the table, the note."""
    yield f"**{table.title}**"
    yield ""
    if table.rows:
        yield from markdown_rows(table.headers, table.rows)
        yield ""
    if table.note:
        yield table.note
        yield ""


def markdown_rows(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    """The lines of a table, whatever its texts hold."""
    for line in (headers, ["---"] * len(headers), *rows):
        yield "| " + " | ".join(text.replace("|", "\\|") for text in line) + " |"
