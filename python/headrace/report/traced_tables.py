"""Traced functions as tables of texts."""

from collections.abc import Iterator

from headrace.profile.traced import Caller, Traced, TracedFunction
from headrace.report.profile_tables import name_text
from headrace.report.table import MOST_ROWS, Table, more
from headrace.report.tables import balance_cells
from headrace.report.units import seconds, short_time, size
from headrace.texts import shown

MOST_TREES = 10
LEAST_SHARE = 0.01  # of the calls or the time of a function, of the callers that are shown
MOST_BRANCHES = 60
COSTLY = "tracing dominates"


def traced_tables(found: Traced | None) -> list[Table]:
    """Those that have rows."""
    if found is None:
        return []
    made = [_functions(found), _spread(found), _callers(found), _groups(found), _regions(found)]
    return [table for table in (*made, _refused(found)) if table.rows]


def _functions(found: Traced) -> Table:
    rows = [_function(one) for one in found.functions[:MOST_ROWS]]
    headers = ("function ", "group ", "calls", "time", "own", "in MPI", "a call", "moved")
    headers += ("called by ", "way ", "tracing", "note ")
    note = (
        "of all ranks and threads; time: with what it calls; own: without other traced functions "
        "and MPI; tracing: what it took itself"
    )
    if found.is_left_out:
        note += ", which is in none of the times, as far as it is known"
    if any(one.is_costly for one in found.functions[:MOST_ROWS]):
        note += f"; {COSTLY}: it took more than a tenth of own: do not trace the function"
    return Table("Traced functions", headers, rows, note + _costs(found) + _rest(found))


def _function(one: TracedFunction) -> tuple[str, ...]:
    ended = one.calls - one.unended
    notes = [COSTLY] if one.is_costly else []
    if one.unended:
        notes.append(f"{one.unended:,} did not end")
    return (
        name_text(one.name),
        shown(one.group) or "-",
        f"{one.calls:,}",
        seconds(one.time),
        seconds(one.own),
        seconds(one.mpi) if one.mpi else "",
        short_time(one.time / ended) if ended > 0 else "-",
        size(one.moved) if one.moved else "",
        name_text(one.first_caller),
        one.way,
        seconds(round(one.cost)),
        "; ".join(notes),
    )


def _spread(found: Traced) -> Table:
    rows = [
        (
            name_text(one.name),
            *balance_cells(one.balance),
            short_time(one.least),
            short_time(one.greatest),
        )
        for one in found.functions[:MOST_ROWS]
    ]
    headers = ("function ", "average", "greatest", "imbalance", "imbalance %")
    headers += ("shortest call", "longest call")
    note = "average to imbalance %: own time of a rank; calls: with what they call"
    return Table("Balance of traced functions", headers, rows, note + more(len(found.functions)))


def _costs(found: Traced) -> str:
    costs = [f"{short_time(cost)} by {way}" for way, cost in found.costs.items()]
    return f"; tracing a call takes {', '.join(costs)}" if costs else ""


def _rest(found: Traced) -> str:
    words = more(len(found.functions))
    if found.uncalled:
        words += f"; {found.uncalled:,} more were not called"
    if found.missed:
        words += f"; {found.missed:,} calls could not be traced where they ran"
    if found.left_out:
        words += f"; {found.left_out:,} functions were left out: raise HEADRACE_TRACE_FUNCTIONS"
    return words


def _callers(found: Traced) -> Table:
    rows = [row for one in found.functions[:MOST_TREES] for row in _tree(one)]
    note = (
        "from the function outwards; callers with less than 1 % of its calls and time are left out"
    )
    if len(rows) > MOST_BRANCHES:
        note += f"; {len(rows) - MOST_BRANCHES} more are in --json"
    headers = ("function, and who called it ", "calls", "time")
    return Table("Callers of traced functions", headers, rows[:MOST_BRANCHES], note)


def _tree(one: TracedFunction) -> Iterator[tuple[str, ...]]:
    yield (name_text(one.name), f"{one.calls:,}", seconds(one.time))
    yield from _branches(one, one.callers, 1)


def _branches(whole: TracedFunction, node: Caller, depth: int) -> Iterator[tuple[str, ...]]:
    for one in node.costliest():
        if max(one.calls / whole.calls, one.time / max(1, whole.time)) < LEAST_SHARE:
            continue
        yield (f"{'  ' * depth}{name_text(one.name)}", f"{one.calls:,}", seconds(one.time))
        yield from _branches(whole, one, depth + 1)


def _groups(found: Traced) -> Table:
    rows = [
        (
            shown(one.name),
            f"{one.functions:,}",
            f"{one.calls:,}",
            seconds(one.own),
            *balance_cells(one.balance),
            size(one.moved) if one.moved else "",
        )
        for one in found.groups
    ]
    headers = ("group ", "functions", "calls", "own", "average", "greatest", "imbalance")
    headers += ("imbalance %", "moved")
    return Table("Traced groups", headers, rows, "mpi: in MPI calls, which the recorder counts")


def _regions(found: Traced) -> Table:
    rows = [
        (name_text(one.name), shown(label) or "(none)", seconds(time))
        for one in found.functions[:MOST_ROWS]
        if list(one.regions) != [""]
        for label, time in one.regions.items()
    ]
    headers = ("function ", "region ", "time")
    title = "Traced functions by region"
    return Table(title, headers, rows[:MOST_ROWS], more(len(rows)).removeprefix("; "))


def _refused(found: Traced) -> Table:
    rows = [
        (name_text(one.name), shown(one.module), one.way, shown(one.reason))
        for one in found.refused[:MOST_ROWS]
    ]
    headers = ("function ", "file ", "way ", "why ")
    note = more(len(found.refused)).removeprefix("; ")
    return Table("Functions that are not traced", headers, rows, note)
