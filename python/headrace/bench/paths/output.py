"""The findings as tables, on the terminal and between two markers of a Markdown file."""

import textwrap
from collections.abc import Sequence

from rich.console import Console

from headrace.bench.jobs import HEADRACE
from headrace.bench.paths.grid import DIRECT, FORCED, KEYS, STAGED
from headrace.bench.paths.judgement import LEAST_SHARE, Choice, Curve, curves, judge, losing_first
from headrace.bench.peers import document
from headrace.bench.peers.judgement import problems
from headrace.bench.peers.output import show_line, show_problems, show_table
from headrace.bench.peers.results import Results
from headrace.bench.peers.tables import PLACE_HEADERS, Table, markdown, place_columns, ratio_text

BEGIN = "<!-- bench paths begin -->"
END = "<!-- bench paths end -->"


def cell_table(choices: Sequence[Choice]) -> Table:
    """Cells in which the model loses more than it may come first."""
    rows = [_row(one) for one in losing_first(choices)]
    headers = (
        *PLACE_HEADERS,
        *("direct", "staged", "the model", "it took", "better", "the model to the better one"),
    )
    note = (
        "MiB/s by force and by the model, medians of alternating runs; better: the path whose 95 % "
        "interval lies on its side of the other, = where they are not told apart; to the better "
        "one: paired ratio to the path with the higher median, [95 % interval]"
    )
    return Table("The model against both paths by force", headers, rows, note)


def _row(one: Choice) -> tuple[str, ...]:
    marks = ["LOST"] if one.is_lost else []
    marks += ["noisy"] if one.is_noisy else []
    return (
        *place_columns(one),
        *(f"{one.rates[way].median:.0f}" for way in (*FORCED, HEADRACE)),
        one.taken,
        one.winner or "=",
        " ".join([ratio_text(one.ratio), *marks]),
    )


def summary(choices: Sequence[Choice]) -> list[str]:
    """How many cells are lost, and how many each path wins."""
    lost = sum(one.is_lost for one in choices)
    surely = sum(one.ratio.high < LEAST_SHARE and one.ratio.is_confident for one in choices)
    wins = {path: sum(one.winner == path for one in choices) for path in FORCED}
    taken = {path: sum(one.taken == path for one in choices) for path in FORCED}
    return [
        f"The model loses more than {1 - LEAST_SHARE:.0%} against the better path in {lost} of "
        f"{len(choices)} cells, surely in {surely}.",
        f"Staging wins {wins[STAGED]} cells and was taken in {taken[STAGED]}; going directly wins "
        f"{wins[DIRECT]} and was taken in {taken[DIRECT]}; "
        f"{len(choices) - sum(wins.values())} are not told apart.",
    ]


def crossing_table(choices: Sequence[Choice]) -> Table:
    rows = [
        (
            *(curve.access, str(curve.ranks), curve.file_system, curve.title),
            _sizes(curve.measured_crossings()),
            _estimated(curve),
        )
        for curve in curves(choices)
    ]
    headers = ("access", "ranks", "files in", "MPI", "measured", "estimated")
    return Table("Pieces of tile at which the faster path changes", headers, rows)


def _sizes(sizes: Sequence[int]) -> str:
    return ", ".join(f"{float(f'{size:.2g}'):,.0f} B" for size in sizes) or "nowhere"


def _estimated(curve: Curve) -> str:
    sizes, limit = curve.estimated_crossings(), curve.without_estimate()
    if sizes or not limit:
        return _sizes(sizes)
    known = [one.case.piece for one in curve.choices if one.case.piece < limit]
    return f"between {max(known):,} B and {limit:,} B, by the view" if known else "by the view"


def show(console: Console, results: Results) -> None:
    """What is wrong, then losing cells and all others, and the crossings."""
    show_problems(console, problems(results, KEYS))
    choices = judge(results)
    if not choices:
        show_line(console, "Nothing was measured yet.")
        return
    for line in summary(choices):
        show_line(console, line)
    for table in (cell_table(choices), crossing_table(choices)):
        show_table(console, table)
    for one in losing_first(choices):
        if one.is_lost:
            place = f"{one.case.title}, {one.access}, {one.file_system}"
            show_line(console, f"{place}: took {one.taken} ({one.reason})")


def section(results: Results, picture: str = "") -> str:
    """The text between the markers."""
    choices = judge(results)
    rounds = {one.ratio.count for one in choices}
    told = f"{document.measured_how(results, 'paths')}, {min(rounds, default=0)} rounds or more."
    parts = [
        *textwrap.wrap(" ".join([told, *summary(choices)]), document.WIDTH),
        "",
        *([f"![Time for a byte by size of pieces]({picture})", ""] if picture else []),
    ]
    for table in (crossing_table(choices), cell_table(choices)):
        parts.extend(markdown(table))
    return "\n".join(parts).rstrip() + "\n"
