"""Findings and advice as one page that needs nothing else: no script, no other file, no network."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from heapq import nsmallest

import jinja2

from headrace.advice.judging import Advice, Judgement
from headrace.analysis.analyse import Findings
from headrace.analysis.verdict import ACCEPTABLE, verdict
from headrace.counters.summary import Counters
from headrace.profile.loopmark import Listing
from headrace.profile.profile import Profile
from headrace.profile.traced import Traced
from headrace.report import pictures
from headrace.report.actions import (
    UNKNOWN,
    WAITING,
    first,
    gained_seconds,
    nothing,
    parts,
    places,
    reasons,
)
from headrace.report.counter_tables import counter_tables
from headrace.report.flame import flame
from headrace.report.heat_picture import heat_pictures
from headrace.report.last_calls import last_calls_table
from headrace.report.profile_tables import profile_tables, sampling_line
from headrace.report.quality import quality
from headrace.report.since import Since
from headrace.report.tables import BY_NODE, tables
from headrace.report.timeline_text import timeline_lines
from headrace.report.traced_tables import traced_tables
from headrace.report.units import LONGEST_VERDICT, NS, library, seconds, size
from headrace.symbols.resolver import Symbols
from headrace.texts import shown

FIRST_WORDS = "<!DOCTYPE html>\n<!-- Made by headrace report -->\n"
LONGEST_COMMAND = 400
_BY = {
    "headrace": "a setting of Headrace",
    "library": "a setting of the MPI library or launcher",
    "system": "you and your site",
    "code": "a change of the program",
}


@dataclass(frozen=True)
class Tile:
    """is_good: None where there is no limit."""

    name: str
    value: str
    note: str
    is_good: bool | None


@dataclass(frozen=True)
class Card:
    """upper_share, lower_share: of the run, in percent."""

    title: str
    kind: str
    gain: str
    note: str
    upper_share: float
    lower_share: float
    evidence: tuple[str, ...]
    places: tuple[str, ...]
    action: str
    by: str


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")


def page(
    found: Findings,
    symbols: Symbols,
    judgement: Judgement,
    profile: Profile | None = None,
    listing: Listing | None = None,
    counted: Counters | None = None,
    traced: Traced | None = None,
    since: Since | None = None,
) -> str:
    run = found.run
    every = [
        *([last_calls_table(found, symbols)] if found.last_calls else []),
        *tables(found, symbols),
    ]
    cards = [_card(one, found, symbols) for one in judgement.advice]
    top = [_card(one, found, symbols) for one in first(judgement)]
    return FIRST_WORDS + _template().render(
        verdict=shown(verdict(found), LONGEST_VERDICT),
        command=shown(run.command, LONGEST_COMMAND),
        mpi=library(run.mpi),
        run=run,
        source=found.source,
        what=found.rank_times.what,
        seconds=seconds(run.elapsed),
        lacks=[shown(one) for one in run.lacks],
        parts=[(name, share, _class_of(name)) for name, share in parts(found) if share > 0],
        tiles=_tiles(found),
        top=top,
        rest=[card for card in cards if card not in top],
        nothing=nothing(found),
        suppressed=[(shown(rule.title), shown(cause)) for rule, cause in judgement.suppressed],
        unjudged=[(shown(one.rule.title), reasons(one)) for one in judgement.unjudged],
        strip=pictures.strip(found),
        longest=_longest(found),
        matrix=pictures.matrix(found.matrix, run.count),
        heat=heat_pictures(found),
        profile=[
            *profile_tables(profile, listing),
            *traced_tables(traced),
            *counter_tables(counted),
        ],
        sampling="" if profile is None else sampling_line(profile),
        flame=flame(profile),
        hottest=pictures.hottest(profile, run),
        since=since,
        by_node=next((one for one in every if one.title == BY_NODE), None),
        tables=[one for one in every if one.title != BY_NODE],
        timeline=timeline_lines(found.timeline),
        quality=quality(found, symbols),
    )


def _class_of(name: str) -> str:
    known = {"computing": "a", "messages": "b", "collective calls": "c", "I/O": "d", WAITING: "w"}
    return known.get(name, "e")


def _tiles(found: Findings) -> list[Tile]:
    if found.in_mpi is None:
        return [*_tiles_of_io(found), _bandwidth(found)]
    one = found.efficiency
    made = []
    for name, value, note in (
        ("parallel efficiency", one and one.parallel, "average time outside MPI / run"),
        ("load balance", one and one.load_balance, "average / longest time outside MPI"),
        ("communication efficiency", one and one.communication, "longest time outside MPI / run"),
    ):
        good = None if value is None else value >= ACCEPTABLE
        made.append(Tile(name, "not measured" if value is None else f"{value:.0%}", note, good))
    made.append(_bandwidth(found))
    return made


def _tiles_of_io(found: Findings) -> list[Tile]:
    """Where nothing else is known."""
    spent = found.classes[0].balance
    return [
        Tile("parallel efficiency", UNKNOWN, "computing and messages are not known", None),
        Tile("time in I/O", f"{found.share(spent.total):.1%}", "of the ranks' time", None),
        Tile("longest in I/O", seconds(spent.greatest), "the rank with most", None),
    ]


def _bandwidth(found: Findings) -> Tile:
    """Bytes of I/O by the time of the rank that is in it longest."""
    moved = (found.metrics["io_read_bytes"] or 0) + (found.metrics["io_write_bytes"] or 0)
    time = found.metrics["io_greatest_seconds"] or 0
    if not moved or not time:
        by = "by MPI-IO" if found.outside is not None else "in files"
        return Tile("I/O bandwidth", "none seen", f"no bytes moved {by}", None)
    return Tile("I/O bandwidth", f"{size(int(moved / time))}/s", "bytes / slowest rank's I/O", None)


def _card(one: Advice, found: Findings, symbols: Symbols) -> Card:
    run = found.run.elapsed / NS or 1.0
    upper, lower = one.upper or 0.0, one.lower or 0.0
    notes = []
    if one.upper is not None and upper - lower > 0.1 * upper:
        notes.append(f"the bound lies between {gained_seconds(lower)} and {gained_seconds(upper)}")
    if one.own is not None:
        notes.append(f"own time {gained_seconds(one.own)}")
    return Card(
        title=shown(one.rule.title),
        kind="hint" if one.is_hint else "action",
        gain="" if one.upper is None else f"at most {gained_seconds(upper)}",
        note="; ".join(notes),
        upper_share=min(100.0, 100 * upper / run),
        lower_share=min(100.0, 100 * lower / run),
        evidence=tuple(map(shown, one.evidence)),
        places=tuple(places(one, found, symbols)),
        action=shown(one.rule.action),
        by=", or ".join(_BY[by] for by in one.rule.by),
    )


def _longest(found: Findings, most: int = 5) -> Iterable[tuple[int, str, str]]:
    """The ranks that are longest outside MPI, or in I/O; with hosts where these are known."""
    times = found.rank_times.times
    ranks = [(one.rank, one.host) for one in found.run.ranks] or [
        (at, "-") for at in range(len(times))
    ]
    pairs = zip(ranks, times, strict=True)
    ordered = nsmallest(most, pairs, key=lambda pair: (-pair[1], pair[0][0]))
    return [(rank, shown(host), seconds(time)) for (rank, host), time in ordered]
