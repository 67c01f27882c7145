"""The findings as tables, on the terminal and between two markers of a Markdown file."""

import textwrap
from collections.abc import Sequence

from rich.console import Console

from headrace.bench.grid import racing
from headrace.bench.grid.judgement import (
    LEAST,
    NEAR,
    PART,
    Best,
    Cell,
    aims,
    judge,
    losing_first,
)
from headrace.bench.peers import document
from headrace.bench.peers.judgement import problems
from headrace.bench.peers.output import show_line, show_problems, show_table
from headrace.bench.peers.results import Results
from headrace.bench.peers.tables import (
    PLACE_HEADERS,
    Table,
    markdown,
    place,
    place_columns,
    ratio_text,
)

BEGIN = "<!-- bench grid begin -->"
END = "<!-- bench grid end -->"

METHOD = (
    f"A search tries every setting in turns, {racing.ROUNDS} rounds; those far behind drop out "
    "after each. The fastest of many noisy ones looks faster than it is. So it then meets the "
    "default in fresh pairs of runs, and only these make the ratio of a cell, with a 95 % "
    "interval. In return a search may miss the very best by its noise."
)


def ways(results: Results) -> set[str]:
    """The keys of all settings: each is Headrace's, and none may fail."""
    trials = [trial for measured in results.points.values() for trial in measured.trials]
    return {key for trial in trials for key in trial.labels}


def cell_table(cells: Sequence[Cell]) -> Table:
    """Cells that lose come first."""
    rows = [
        (
            *place_columns(one),
            f"{one.rate.median:.0f}",
            f"{one.best.rate.median:.0f}",
            one.best.label,
            f"{one.best.searched:.2f}",
            f"{one.best.fastest:.2f}",
            _marked(one),
        )
        for one in losing_first(cells)
    ]
    headers = (
        *PLACE_HEADERS,
        *(
            "default",
            "best",
            "best setting",
            "in the search",
            "at their fastest",
            "default to best",
        ),
    )
    note = (
        "default, best: MiB/s, medians; in the search: the default to the best setting in the "
        "rounds that chose it; at their fastest: the fastest of the pairs after it; default to "
        "best: in these pairs, median [95 % interval]. "
        f"LOST: the median is below {NEAR}; surely: the interval, too."
    )
    return Table("The default and the best setting", headers, rows, note)


def _marked(one: Cell) -> str:
    mark = " surely LOST" if one.is_surely_lost else " LOST" if one.is_lost else ""
    noise = ", noisy" if one.is_noisy else ""
    return f"{ratio_text(one.best.ratio)}{mark}{noise}"


def opt_in_table(cells: Sequence[Cell]) -> Table:
    """What buffers add where there are calls for them."""
    found = [(one, one.opt_in) for one in cells if one.opt_in]
    rows = [_opt_in_row(one, best) for one, best in found]
    rows.sort(key=lambda row: row[-1])
    note = (
        "HEADRACE_IOBUF is off by default and not counted above: with it, ranks see each other's "
        "writes only after MPI_File_sync or MPI_File_close."
    )
    headers = (*PLACE_HEADERS, "default", "best buffers", "setting", "default to best")
    return Table("Buffers for small calls", headers, rows, note if rows else "")


def _opt_in_row(one: Cell, best: Best) -> tuple[str, ...]:
    rates = (f"{one.rate.median:.0f}", f"{best.rate.median:.0f}")
    return (*place_columns(one), *rates, best.label, ratio_text(best.ratio))


def summary(cells: Sequence[Cell]) -> list[str]:
    """Whether the aims are met, and by how much."""
    if not cells:
        return ["Nothing was measured yet."]
    found = aims(cells)
    low, high = min(one.settings for one in cells), max(one.settings for one in cells)
    tried = f"{low} to {high}" if low < high else str(low)
    reached = found.count - found.lost
    return [
        f"The default is within {1 - NEAR:.0%} of the best of {tried} settings in {reached} of "
        f"{found.count} cells ({found.part:.1%}; wanted: {PART:.0%}). By the intervals it surely "
        f"is in {found.surely_near}, and surely is not in {found.surely}.",
        f"The lowest cell reaches {found.lowest.best.ratio.median:.2f} (wanted: {LEAST:.2f}): "
        f"{place(found.lowest)}.",
        f"The aims are {'met' if found.are_met else 'NOT met'}.",
        *_noise(cells),
    ]


def _noise(cells: Sequence[Cell]) -> list[str]:
    same = [one.best.ratio.median for one in cells if one.is_same]
    if not same:
        return []
    return [
        f"In {len(same)} cells the best setting only asks for the path that the default took: "
        f"their ratios, {min(same):.2f} to {max(same):.2f}, show the noise."
    ]


def reasons(cells: Sequence[Cell]) -> list[str]:
    """What the default did in cells that lose."""
    return [
        f"{place(one)}: took {one.taken} ({one.reason})"
        for one in losing_first(cells)
        if one.is_lost and one.taken
    ]


def show(console: Console, results: Results) -> None:
    """What is wrong, then the aims, cells that lose and all others."""
    show_problems(console, problems(results, ways(results)))
    cells = judge(results)
    for line in summary(cells):
        show_line(console, line)
    if not cells:
        return
    for table in (cell_table(cells), opt_in_table(cells)):
        if table.rows:
            show_table(console, table)
    for line in (*reasons(cells), METHOD):
        show_line(console, line)


def section(results: Results, picture: str = "") -> str:
    """The text between the markers."""
    cells = judge(results)
    counts = sorted({one.best.ratio.count for one in cells})
    pairs = " to ".join(dict.fromkeys(map(str, (counts[0], counts[-1])))) if counts else "no"
    noisy = sum(one.is_noisy for one in cells)
    told = (
        f"{document.measured_how(results, 'grid')}: {results.identity['size'] / 1e6:.0f} MB, four "
        f"times as many where they move fast, {pairs} pairs. Measured beside other work: {noisy} "
        f"of {len(cells)} cells."
    )
    parts = [
        *textwrap.wrap(told, document.WIDTH, break_on_hyphens=False),
        "",
        *(f"- {line}" for line in summary(cells)),
        "",
        *([f"![The default to the best setting]({picture})", ""] if picture else []),
    ]
    for table in (cell_table(cells), opt_in_table(cells)):
        if table.rows:
            parts.extend(markdown(table))
    lost = reasons(cells)
    if lost:
        parts += ["**What the default took where it loses**", "", *(f"- {x}" for x in lost), ""]
    parts += document.settings(results)
    return "\n".join(parts).rstrip() + "\n"
