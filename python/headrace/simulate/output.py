"""What was played, as tables and as a file."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from headrace.bench.peers.output import show_table
from headrace.bench.peers.tables import Table
from headrace.errors import unwritable
from headrace.places import write_whole
from headrace.simulate.play import Played

MEGA = 1e6


def title(played: Played) -> str:
    job = played.job
    return (
        f"{job['ranks']:,} ranks on {job['nodes']:,} nodes, {job['calls']:,} calls of "
        f"{job['pieces']:,} x {job['piece']:,} B a rank, {job['stripes']:,} stripes of "
        f"{job['stripe-size']:,} B"
    )


def method_table(played: Played) -> Table:
    rows = [
        (
            one["method"],
            f"{one['aggregators']:,}" if one["aggregators"] else "",
            f"{one['rounds']:,}",
            f"{one['messages']:,}",
            f"{one['lock_transfers']:,}",
            f"{one['read_modify_writes']:,}",
            f"{one['bytes_per_second'] / MEGA:,.0f}",
        )
        for one in played.methods
    ]
    headers = ("method", "writers", "rounds", "messages", "locks", "reads", "MB/s")
    planning = played.job["planning"]
    memory = max(one["plan_bytes_of_leader"] for one in played.methods)
    note = (
        "counts are exact; MB/s is an estimate from them. writers: aggregators; messages: between "
        "nodes; locks: that nodes lost to others; reads: at the servers, before partial blocks. A "
        f"leader planned one call in {planning['seconds'] * 1e3:.2g} ms and {memory:,} B."
    )
    return Table(title(played), headers, rows, note)


def cost_table(played: Sequence[Played]) -> Table:
    rows = [
        (one["name"], f"{one['value']:g}", one["unit"], one["source"])
        for one in played[0].job["costs"]
    ]
    return Table("Costs of the estimate", ("cost", "value", "unit", "source"), rows)


def show(console: Console, played: Sequence[Played]) -> None:
    """A table for each job, and one of the estimate's costs."""
    for one in played:
        show_table(console, method_table(one))
    show_table(console, cost_table(played))


def write(file: Path, played: Sequence[Played]) -> None:
    """All counts, as JSON. Raises HeadraceError where the file cannot be written."""
    try:
        write_whole(file, json.dumps([one.job for one in played], indent=1) + "\n")
    except OSError as error:
        raise unwritable(file, error, "give another name") from error
