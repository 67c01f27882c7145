"""Whether tables that were read fit together: a record is input from outside, and may be made to
mislead. What gets past here can be used without further questions."""

from array import array
from collections.abc import Callable, Sequence

from headrace.record.columns import Constant, bounds
from headrace.record.generated.tables import TABLES
from headrace.record.tables import JOB, Node, Table, points_at

CLASSES = 5
STATES = 4
WAYS = 5
LAYERS = 2
KINDS = 6
AWAITED = 3
# Numbers that mean something below zero; all others count or measure.
MAY_BE_NEGATIVE = {
    ("communicators", "on_node"),
    ("matrix", "peer"),
    ("files", "store_read"),
    ("files", "store_written"),
    ("ranks", "system_read"),
    ("ranks", "system_written"),
    ("ranks", "device_read"),
    ("ranks", "device_written"),
    ("ranks", "unheard"),
    ("decisions", "cost"),
    ("regions", "id"),
    ("sampling", "caller"),
    ("timelines", "clock_error"),
    ("events", "thread"),
    ("events", "peer"),
    ("events", "offset"),
}
LEAST = -2
# Sums of what was measured, of which a mean cost was taken away.
DIFFERENCES = {("traced", "time"), ("traced", "own")}
MOST = {
    ("calls", "class"): CLASSES - 1,
    ("ranks", "state"): STATES - 1,
    ("calls", "rank"): (1 << 31) - 1,
    ("ranks", "rank"): (1 << 31) - 1,
    ("waits", "rank"): (1 << 31) - 1,
    ("awaited", "rank"): (1 << 31) - 1,
    ("awaited", "peer"): (1 << 31) - 1,
    ("awaited", "kind"): AWAITED - 1,
    ("matrix", "rank"): (1 << 31) - 1,
    ("matrix", "peer"): (1 << 31) - 1,
    ("files", "rank"): (1 << 31) - 1,
    ("regions", "rank"): (1 << 31) - 1,
    ("accesses", "rank"): (1 << 31) - 1,
    ("accesses", "layer"): LAYERS - 1,
    ("heat", "rank"): (1 << 31) - 1,
    ("heat", "ranks"): (1 << 31) - 1,
    ("heat", "layer"): LAYERS - 1,
    ("sampling", "rank"): (1 << 31) - 1,
    ("samples", "rank"): (1 << 31) - 1,
    ("timelines", "rank"): (1 << 31) - 1,
    ("file_timelines", "rank"): (1 << 31) - 1,
    ("events", "rank"): (1 << 31) - 1,
    ("events", "peer"): (1 << 31) - 1,
    ("events", "kind"): KINDS - 1,
    ("events", "system_thread"): (1 << 31) - 1,
    ("last_calls", "rank"): (1 << 31) - 1,
    ("last_calls", "class"): CLASSES - 1,
    ("last_calls", "open"): 1,
    ("counters", "rank"): (1 << 31) - 1,
    ("counters", "error"): (1 << 31) - 1,
    ("functions", "way"): WAYS - 1,
    ("traced", "rank"): (1 << 31) - 1,
}

Refuse = Callable[[str], Exception]


def check_node(node: Node, is_whole: bool, refuse: Refuse) -> None:
    """Places within their tables, numbers within reason, call paths without circles. In a record
    that was cut off, places in tables that are behind the cut become -1."""
    for table in node.tables.values():
        for column, unit in TABLES[table.name][1]:
            target = points_at(unit)
            if table.size == 0 or table.name == "texts":
                continue
            if target is None:
                _check_numbers(table, column, refuse)
            elif target not in node.tables and not is_whole:
                table.columns[column] = Constant(-1, table.size)
            else:
                _check_places(node, table, column, target, refuse)
    _check_paths(node["paths"], refuse)


def place_text(node: Node) -> str:
    return "of the job" if node.number == JOB else f"of node {node.number}"


def _check_places(node: Node, table: Table, column: str, target: str, refuse: Refuse) -> None:
    least, most = bounds(table[column])
    size = node[target].size
    if least < -1 or most >= size:
        wrong = least if least < -1 else most
        raise refuse(
            f"{table.name}.{column} {place_text(node)} names row {wrong} of {target}, which has "
            f"{size}"
        )


def _check_numbers(table: Table, column: str, refuse: Refuse) -> None:
    least, most = bounds(table[column])
    key = (table.name, column)
    is_low = least < (LEAST if key in MAY_BE_NEGATIVE else 0) and key not in DIFFERENCES
    if is_low or most > MOST.get(key, most):
        wrong = least if is_low else most
        raise refuse(f"{table.name}.{column} has the value {wrong}, which cannot be")


def _check_paths(paths: Table, refuse: Refuse) -> None:
    if paths.size and outside_in(paths["caller"]) is None:
        raise refuse("a call path leads back to itself")


def outside_in(callers: Sequence[int]) -> array | None:
    """The rows of a tree in an order that has callers first; None if it has a circle."""
    order = array("q")
    done = bytearray(len(callers))
    for start in range(len(callers)):
        chain = []
        row = start
        while row >= 0 and not done[row]:
            if len(chain) > len(callers):
                return None
            chain.append(row)
            row = callers[row]
        order.extend(reversed(chain))
        for row in chain:
            done[row] = 1
    return order
