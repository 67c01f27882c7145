"""A comparison as text."""

from collections.abc import Mapping, Sequence
from statistics import median

from rich.console import Console

from headrace.analysis.waiting import Wait
from headrace.compare import comparison
from headrace.compare.comparison import Check, Comparison, Row
from headrace.compare.names import Key
from headrace.compare.profile import IN_MPI, OFF, OUTSIDE, Profile
from headrace.report.since import Since
from headrace.report.tables import MOST_LINES, MOST_ROWS, Table, wait
from headrace.report.terminal import counted, put_line, put_table, put_title
from headrace.report.units import seconds, short_time
from headrace.statistics import CONFIDENCE, runs_needed
from headrace.texts import shown

MOST_SITES = 10
LONGEST_VALUE = 80


def show_comparison(out: Console, found: Comparison, check: Check | None) -> None:
    for line in head(found, check):
        put_line(out, line)
    for table in comparison_tables(found):
        put_table(out, table)
    lines = _quality(found)
    if lines:
        out.print()
        put_title(out, "Data quality")
        for line in lines:
            put_line(out, line)


def comparison_tables(found: Comparison) -> list[Table]:
    """Those that have rows."""
    made = (make(found) for make in (_changes, _classes, _regions, _procedures, _paths))
    return [table for table in made if table.rows]


def since_of(found: Comparison) -> Since:
    """For a report of the run after the change."""
    lines = [verdict(found), *(f"NOT COMPARABLE: {shown(why)}" for why in found.obstacles)]
    return Since((*lines, *compared_runs(found)), tuple(comparison_tables(found)))


def head(found: Comparison, check: Check | None) -> list[str]:
    """The first lines, which must suffice."""
    lines = [verdict(found), answers(check)]
    lines += [f"NOT COMPARABLE: {shown(why)}" for why in found.obstacles]
    return lines + compared_runs(found)


def compared_runs(found: Comparison) -> list[str]:
    lines = []
    for name, runs in (("before", found.before), ("after", found.after)):
        lines.append(f"{name}: {_times(runs)}; {shown(', '.join(one.file for one in runs))}")
    if any(wait is not None for wait in found.waits):
        lines.append(f"waiting in collective calls, of the average rank: {_waits(found.waits)}")
    return lines


def verdict(found: Comparison) -> str:
    """One sentence."""
    one = found.speed_up
    if one is None:
        return "The runs are not comparable, so no times are compared."
    times = f"After the change the run is {one.median:.3f} times as fast"
    if not one.coverage:
        return f"{times}; one run each, no interval, so chance alone may explain it."
    times += f" [{one.low:.3f}, {one.high:.3f}]"
    if not one.is_confident:
        return (
            f"{times}; these are too few runs to be sure: the interval holds the truth in "
            f"{one.coverage:.0%} of cases; {CONFIDENCE:.0%} takes {runs_needed()} runs each."
        )
    return f"{times}: {_OUTCOMES[found.outcome].format(tolerance=found.tolerance)}."


_OUTCOMES = {
    comparison.FASTER: "faster",
    comparison.SLOWER: "SLOWER, beyond the tolerance of {tolerance:g} %",
    comparison.WITHIN: "slower, but within the tolerance of {tolerance:g} %",
    comparison.UNCERTAIN: "no difference can be told from chance",
}


def answers(check: Check | None) -> str:
    if check is None:
        return "The answers were not compared (--check)."
    command = shown(check.command)
    if check.is_same:
        return f"The answers are the same: '{command}' ended with status 0."
    return f"WRONG ANSWERS: '{command}' ended with status {check.code}."


def _times(runs: Sequence[Profile]) -> str:
    times = [one.elapsed for one in runs]
    spread = f" ({seconds(min(times))} to {seconds(max(times))})" if len(runs) > 1 else ""
    ranks = ", ".join(dict.fromkeys(counted(one.ranks, "rank") for one in runs))
    return f"{counted(len(runs), 'run')}, {ranks}, median {seconds(median(times))}{spread}"


def _waits(waits: Sequence[Wait | None]) -> str:
    texts = ["not measured" if one is None else wait(one) for one in waits]
    return f"{texts[0]} before, {texts[1]} after"


def _changes(found: Comparison) -> Table:
    rows = [
        (one.kind, shown(one.name, LONGEST_VALUE), _values(one.before), _values(one.after))
        for one in found.changes[: 2 * MOST_ROWS]
    ]
    note = "several values in one field: runs of one group differ"
    if len(found.changes) > len(rows):
        note += f"; {len(found.changes) - len(rows)} more are in --json"
    return Table("What changed", ("kind ", "name ", "before ", "after "), rows, note)


def _values(values: Sequence[str]) -> str:
    texts = [shown(one, LONGEST_VALUE) for one in values[:MOST_LINES]]
    return "\n".join([*texts, "..."] if len(values) > MOST_LINES else texts)


_TIMES = ("before", "after", "difference", "interval", "certain")
_NOTE = "times of the average rank, medians of the runs"


def _row(row: Row) -> tuple[str, ...]:
    change = row.change
    return (
        short_time(row.before),
        short_time(row.after),
        _signed(change.median),
        f"{_signed(change.low)} to {_signed(change.high)}" if change.coverage else "-",
        "yes" if row.is_certain else "no",
    )


def _signed(ns: float) -> str:
    return f"{'-' if ns < 0 else '+'}{short_time(abs(ns))}"


def _classes(found: Comparison) -> Table:
    rows = [
        (name if name in (OUTSIDE, OFF, IN_MPI) else f"  {name}", *_row(row))
        for name, row in (found.classes or {}).items()
    ]
    note = f"{_NOTE}; certain: the interval excludes 0 with {CONFIDENCE:.0%}"
    return Table("Where the difference lies", ("time ", *_TIMES), rows, note)


def _calls(row: Row) -> tuple[str, str]:
    return f"{row.calls_before:,.10g}", f"{row.calls_after:,.10g}"


_CALLS = ("calls before", "calls after")


def _procedures(found: Comparison) -> Table:
    rows = [
        (shown(name), *_calls(row), *_row(row))
        for name, row in list((found.procedures or {}).items())[:MOST_ROWS]
    ]
    note = "greatest difference first" + _more(found.procedures, rows)
    return Table("Operations", ("procedure ", *_CALLS, *_TIMES), rows, note)


def _regions(found: Comparison) -> Table:
    rows = [
        (shown(name, LONGEST_VALUE), *_calls(row), *_row(row))
        for name, row in list((found.regions or {}).items())[:MOST_ROWS]
    ]
    note = "without the regions in them; greatest difference first" + _more(found.regions, rows)
    columns = ("region ", "entries before", "entries after", *_TIMES)
    return Table("Regions of the program", columns, rows, note)


def _paths(found: Comparison) -> Table:
    rows = [
        (shown(key[0]), *_calls(row), *_row(row), _path(key))
        for key, row in list((found.sites or {}).items())[:MOST_SITES]
    ]
    note = "matched by the names of functions, the innermost first" + _more(found.sites, rows)
    return Table("Call paths", ("procedure ", *_CALLS, *_TIMES, "called by "), rows, note)


def _more(every: Mapping | None, rows: Sequence) -> str:
    left = len(every or {}) - len(rows)
    return f"; {left} more are in --json" if left > 0 else ""


def _path(key: Key) -> str:
    names = [shown(one, LONGEST_VALUE) for one in key[1]]
    return "\n".join([*names[:MOST_LINES], "..."] if len(names) > MOST_LINES else names) or "-"


def unnamed(found: Comparison) -> dict[str, str]:
    """Why modules of a run have no names, by their files."""
    every = {
        name: why for one in (*found.before, *found.after) for name, why in one.problems.items()
    }
    return dict(sorted(every.items()))


def _quality(found: Comparison) -> list[str]:
    """Nothing where no times are compared."""
    if found.speed_up is None:
        return []
    runs = (*found.before, *found.after)
    lines = [
        f"no names of {shown(name)}: {why}, so its call paths match within one build only"
        for name, why in unnamed(found).items()
    ]
    lines += [
        f"folded: {one.folded:,} calls of '{shown(one.file)}' are counted under a shorter call path"
        for one in runs
        if one.folded
    ]
    lines += [
        f"not measured: {', '.join(one.missing)} of '{shown(one.file)}' (another version made it)"
        for one in runs
        if one.missing
    ]
    return lines
