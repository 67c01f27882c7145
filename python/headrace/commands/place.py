"""`headrace place`: which rank should sit on which node."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np

from headrace.commands._newest import newest_of_directories
from headrace.commands._targets import refuse_to_replace
from headrace.errors import HeadraceError, say, unwritable
from headrace.place import compute, order_file, orders
from headrace.place.graph import Graph, of_messages
from headrace.place.grid import Grid, read_extents, stencil_graph
from headrace.place.nodes import in_turn, interleaved, read_interleave, sizes_of
from headrace.place.of_record import of_record
from headrace.record.reader import read
from headrace.report import placement
from headrace.report.terminal import console
from headrace.report.units import size, typed

HELP = """Compute an order of ranks in which those that talk sit on one node.

\b
headrace place app.hrc                                           from what a run sent
headrace place --grid 64x32x16 --stencil 7 --ranks-per-node 64   without a run

RECORD is a run's record, which each job leaves, or a directory with records, of which the newest
is taken. The answer comes first, then what goes
between nodes in today's order, in orders 0 (round robin), 1 (node by node), 2 (folded), and in the
computed one. --output writes an order that gains a tenth or more, in Cray's grammar; 'headrace run
--rank-order FILE' takes it. docs/placement.md has more.
"""

MADE_BY = "headrace place"  # in an order's first line


@dataclass
class Task:
    """What is to be placed. known: orders by name, as the node of each rank."""

    graph: Graph
    sizes: list[int]
    grid: Grid | None = None
    kinds: np.ndarray | None = None
    known: dict[str, np.ndarray] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@click.command(help=HELP, short_help="Computes which rank should sit on which node.")
@click.argument("record", required=False, type=click.Path(path_type=Path))
@click.option("--grid", "extents", metavar="AxBxC", help="A grid of ranks, as MPI_Cart_create's.")
@click.option("--stencil", type=int, metavar="N", help="Points of the grid's stencil.")
@click.option("--periodic", is_flag=True, help="The grid's ends are neighbours.")
@click.option(
    "--bytes",
    "message",
    type=click.IntRange(min=1, max=1 << 40),
    default=1,
    show_default=True,
    help="Bytes that a rank sends to each neighbour of the grid.",
)
@click.option("--ranks-per-node", "per_node", type=click.IntRange(min=1), metavar="N")
@click.option(
    "--nodes",
    metavar="N|LIST",
    help="Number of nodes, or their ranks, such as n0:8,n1:8,n2:4. A record's are the default.",
)
@click.option(
    "--interleave",
    metavar="A:8,B:56",
    help="Programs that share each node, with their ranks on it; their ranks follow one another.",
)
@click.option("--check", type=click.Path(path_type=Path), metavar="FILE", help="Price an order.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the order.")
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
def place(
    record: Path | None,
    extents: str | None,
    stencil: int | None,
    periodic: bool,
    message: int,
    per_node: int | None,
    nodes: str | None,
    interleave: str | None,
    check: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    if (record is None) == (extents is None) and (record or not (interleave and nodes)):
        raise click.UsageError("give a record or --grid")
    if extents is None and (stencil is not None or periodic):
        raise click.UsageError("--stencil and --periodic need --grid")
    if output is not None:
        refuse_to_replace(output, f"# {MADE_BY}", "an order of headrace place")
    if extents is not None:
        task = _of_grid(extents, stencil, periodic, message, (per_node, nodes, interleave))
    elif record is not None:
        (record,) = newest_of_directories([record])
        task = _of_record(record, (per_node, nodes, interleave))
    else:
        task = _of_programs(interleave or "", nodes or "")
    if check is not None:
        order = order_file.read(check, task.graph.ranks)
        task.known[placement.FILE] = orders.nodes(order, task.sizes)
    choice = compute.choose(task.graph, task.sizes, task.grid, task.kinds, task.known)
    if as_json:
        click.echo(json.dumps(placement.document(choice), indent=1))
    else:
        placement.show(console(), choice, task.notes)
    if output is not None:
        _write(choice, output)


Nodes = tuple[int | None, str | None, str | None]  # as --ranks-per-node, --nodes and --interleave


def _of_grid(extents: str, stencil: int | None, periodic: bool, message: int, nodes: Nodes) -> Task:
    grid = Grid(read_extents(extents), periodic)
    points = 2 * len(grid.extents) + 1 if stencil is None else stencil
    task = Task(stencil_graph(grid, points, message), [], grid)
    per_node, list_of_nodes, interleave = nodes
    if interleave is None:
        task.sizes = sizes_of(grid.ranks, per_node, list_of_nodes)
    else:
        _interleave(task, interleave, None)
    return task


def _of_record(path: Path, nodes: Nodes) -> Task:
    recorded = of_record(read(path))
    task = Task(recorded.graph, recorded.sizes)
    per_node, list_of_nodes, interleave = nodes
    if interleave is not None:
        _interleave(task, interleave, recorded.programs)
    elif per_node is None and list_of_nodes is None:
        task.known[compute.TODAY] = recorded.node_of_rank
    else:
        task.sizes = sizes_of(recorded.graph.ranks, per_node, list_of_nodes)
    if recorded.lost:
        task.notes.append(
            f"{size(recorded.lost)} went to ranks that the record does not name: left out."
        )
    if not len(recorded.graph.first):
        raise HeadraceError(
            f"'{path}' gives no order",
            "its ranks sent no messages to each other",
            "no order changes what collective calls send",
            1,
        )
    return task


def _of_programs(interleave: str, nodes: str) -> Task:
    shares = read_interleave(interleave)
    if not (nodes.isascii() and nodes.isdigit() and 0 < len(nodes) < 8):
        raise click.UsageError("--interleave without a record or --grid needs --nodes N")
    nobody = np.zeros(0, dtype=np.int64)
    ranks = int(nodes) * sum(share for _, share in shares)
    task = Task(of_messages(ranks, nobody, nobody, nobody), [])
    _interleave(task, interleave, None)
    return task


def _interleave(task: Task, text: str, programs: tuple[str, ...] | None) -> None:
    """Programs by their names in the record, if it has them; else as their ranks come in turn."""
    shares = read_interleave(text)
    names = [name for name, _ in shares]
    if programs is not None and set(programs) == set(names):
        task.kinds = np.asarray([names.index(one) for one in programs])
    else:
        task.kinds = in_turn(shares, task.graph.ranks)
    task.known[compute.INTERLEAVED], task.sizes = interleaved(shares, task.kinds)


def _write(choice: compute.Choice, path: Path) -> None:
    if choice.is_refused:
        raise HeadraceError(
            f"'{path}' is not written",
            f"the order would gain {100 * choice.gain:.1f} %, less than a tenth",
            "keep the order of today",
            1,
        )
    comment = f"{MADE_BY}: {choice.way}, for {len(choice.sizes)} nodes"
    try:
        path.write_text(order_file.written(choice.slots.tolist(), choice.sizes, [comment]))
    except OSError as error:
        raise unwritable(path, error) from error
    say(f"wrote '{path}', start the job with: headrace run --rank-order {typed(path)} ...")
