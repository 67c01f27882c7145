"""Orders of ranks: what the numbered ones are, what orders cost, and how good computed ones are."""

import itertools
import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from record_support import Job

from headrace.cli import cli
from headrace.errors import HeadraceError
from headrace.place import compute, metis, orders, partition, strips
from headrace.place.graph import Graph, cost, of_messages
from headrace.place.grid import Grid, stencil_graph, stencils
from headrace.place.refine import refined


def grid_graph(*extents: int, periodic: bool = False, points: int = 0) -> tuple[Grid, Graph]:
    grid = Grid(extents, periodic)
    return grid, stencil_graph(grid, points or 2 * len(extents) + 1, 1)


def scrambled(graph: Graph, seed: int = 1) -> Graph:
    renamed = np.random.default_rng(seed).permutation(graph.ranks)
    return of_messages(graph.ranks, renamed[graph.first], renamed[graph.second], graph.sent)


def irregular(ranks: int, messages: int, seed: int) -> Graph:
    generator = np.random.default_rng(seed)
    ends = generator.integers(0, ranks, (2, messages))
    return of_messages(ranks, ends[0], ends[1], generator.integers(1, 1000, messages))


def all_to_all(ranks: int) -> Graph:
    first, second = np.triu_indices(ranks, 1)
    return of_messages(ranks, first, second, np.full(len(first), 8))


def least(graph: Graph, sizes: list[int]) -> int:
    """The fewest bytes between nodes of all orders, by trying each."""

    def assignments(free: tuple[int, ...], node: int) -> Iterator[dict[int, int]]:
        if node == len(sizes) - 1:
            yield {rank: node for rank in free}
            return
        alike = sizes[node:].count(sizes[node]) == len(sizes) - node
        for chosen in itertools.combinations(free, sizes[node]):
            if alike and chosen[0] != free[0]:
                return  # nodes of one size may be exchanged
            rest = tuple(rank for rank in free if rank not in chosen)
            for others in assignments(rest, node + 1):
                yield {**dict.fromkeys(chosen, node), **others}

    edges = list(
        zip(*(part.tolist() for part in (graph.first, graph.second, graph.sent)), strict=True)
    )
    best = math.inf
    for found in assignments(tuple(range(graph.ranks)), 0):
        best = min(best, sum(sent for one, two, sent in edges if found[one] != found[two]))
    return int(best)


@pytest.mark.parametrize(
    ("order", "sizes", "expected"),
    [
        ("0", [2, 2, 2], [0, 3, 1, 4, 2, 5]),
        ("1", [2, 2, 2], [0, 1, 2, 3, 4, 5]),
        ("2", [2, 2, 2], [0, 5, 1, 4, 2, 3]),
        ("0", [1, 3, 2], [0, 1, 3, 5, 2, 4]),
        ("2", [1, 3, 2], [0, 1, 4, 5, 2, 3]),
    ],
)
def test_numbered_orders(order: str, sizes: list[int], expected: list[int]) -> None:
    places = orders.numbered(order, sizes)
    assert places.tolist() == expected
    assert orders.places(orders.nodes(places, sizes)).tolist() == expected


def test_stencils_by_their_points() -> None:
    assert sorted(stencils(1)) == [3, 5, 7, 9]
    assert {5, 9, 13, 17} == set(stencils(2))
    assert {7, 19, 27, 13, 25} == set(stencils(3))
    assert len(stencils(2)[9]) == 8
    assert max(map(max, stencils(2)[9])) == 1  # the near neighbours, not a long star


def test_a_periodic_pair_has_one_edge() -> None:
    _, graph = grid_graph(2, periodic=True)
    assert (graph.first.tolist(), graph.second.tolist(), graph.sent.tolist()) == ([0], [1], [4])


def test_an_open_grid_on_four_nodes() -> None:
    grid, graph = grid_graph(4, 4)
    choice = compute.choose(graph, [4] * 4, grid)
    assert (choice.of("1").edges, choice.of("computed").edges) == (12, 8)
    assert choice.of("1").sent / choice.of("computed").sent == 1.5
    assert not choice.is_refused


def test_a_periodic_cube_with_64_ranks_a_node() -> None:
    result = run_place("--grid 16x16x16 --periodic --stencil 7 --ranks-per-node 64 --json")
    found = {one["order"]: one for one in json.loads(result)["orders"]}
    assert set(found) == {"0", "1", "2", "computed"}
    assert 2 * found["1"]["edges_between_nodes"] == 64 * 160
    assert 2 * found["computed"]["edges_between_nodes"] == 64 * 96
    assert found["1"]["bytes_between_nodes"] * 96 == found["computed"]["bytes_between_nodes"] * 160


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("extents", "periodic", "size", "best"),
    [((4, 4), False, 4, 8), ((8, 8), True, 16, 64), ((8, 8, 8), True, 64, 768)],
)
def test_a_scrambled_order_is_put_right(
    extents: tuple[int, ...], periodic: bool, size: int, best: int, seed: int
) -> None:
    _, graph = grid_graph(*extents, periodic=periodic)
    choice = compute.choose(scrambled(graph, seed), [size] * (graph.ranks // size))
    assert choice.of("computed").edges <= 1.05 * best


@pytest.mark.parametrize("library", [True, False])
@pytest.mark.parametrize("sizes", [[4, 4, 4], [2, 4, 6], [6, 6], [5, 4, 3]])
@pytest.mark.parametrize("kind", ["grid", "torus", "sparse", "dense"])
def test_small_orders_against_all_there_are(
    kind: str, sizes: list[int], library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not library:
        monkeypatch.setattr(metis, "is_there", lambda: False)
    graph = SMALL[kind]()
    choice = compute.choose(graph, sizes)
    assert np.bincount(orders.nodes(choice.slots, sizes)).tolist() == sizes
    assert choice.of("computed").sent <= 1.05 * _least_of(kind, tuple(sizes))


SMALL = {
    "grid": lambda: scrambled(grid_graph(3, 4)[1]),
    "torus": lambda: scrambled(grid_graph(2, 2, 3, periodic=True)[1]),
    "sparse": lambda: irregular(12, 20, 3),
    "dense": lambda: irregular(12, 90, 4),
}


@cache
def _least_of(kind: str, sizes: tuple[int, ...]) -> int:
    return least(SMALL[kind](), list(sizes))


def test_an_all_to_all_is_left_as_it_is() -> None:
    choice = compute.choose(all_to_all(16), [4] * 4)
    assert choice.gain == 0
    assert choice.is_refused


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_keep_sizes_and_never_lose(seed: int) -> None:
    graph = irregular(200, 900, seed)
    sizes = [50, 30, 70, 50]
    start = np.random.default_rng(seed).permutation(np.repeat(np.arange(4), sizes))
    found = refined(graph, start)
    assert np.bincount(found).tolist() == sizes
    assert cost(graph, found).sent < cost(graph, start).sent


def test_parts_that_have_other_sizes_are_repaired() -> None:
    _, graph = grid_graph(6, 6)
    found = partition.repaired(graph.adjacency, np.repeat([0, 1, 2], [20, 10, 6]), [12, 12, 12])
    assert np.bincount(found).tolist() == [12, 12, 12]


@pytest.mark.parametrize("sizes", [[6] * 20, [7] * 17 + [1], [40, 20, 60]])
def test_orders_of_grids_hold_each_rank_once(sizes: list[int]) -> None:
    grid, _ = grid_graph(4, 5, 6)
    made = list(strips.candidates(grid, sizes))
    assert len(made) > 5
    for way, order in made:
        assert sorted(order.tolist()) == list(range(120)), way


def test_bytes_decide_and_not_pairs() -> None:
    # Two pairs talk much, and three a little.
    senders = np.array([0, 2, 0, 1, 0, 1])
    receivers = np.array([3, 1, 1, 2, 2, 3])
    graph = of_messages(4, senders, receivers, np.array([1000, 1000, 1, 1, 1, 1]))
    choice = compute.choose(graph, [2, 2])
    assert choice.of("computed").sent == 3
    assert orders.nodes(choice.slots, [2, 2])[[0, 3]].tolist() == [0, 0]


# The command.


def run_place(line: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, ["place", *line.split()])
    if code:
        assert isinstance(result.exception, HeadraceError | SystemExit), result.output
        return str(result.exception) + result.output
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def recorded(folder: Path, matrix: list[tuple[int, int, int]], nodes: list[list[int]]) -> Path:
    job = Job(facts={"ranks": str(sum(map(len, nodes)))})
    for ranks in nodes:
        node = job.node()
        for rank in ranks:
            program = "solver" if rank % 2 else "io"
            node.add("ranks", rank=rank, host=f"n{node.number}", program=program, state=1)
        for rank, peer, sent in matrix:
            if rank in ranks:
                node.add("matrix", rank=rank, peer=peer, messages=1, sent=sent)
    return job.write(folder)


RING = [(rank, (rank + 1) % 8, 100) for rank in range(8)]


def test_a_record_is_placed(tmp_path: Path) -> None:
    path = recorded(tmp_path, RING, [[0, 2, 4, 6], [1, 3, 5, 7]])
    found = json.loads(run_place(f"{path} --json"))
    sent = {one["order"]: one["bytes_between_nodes"] for one in found["orders"]}
    assert sent == {"today": 800, "0": 800, "1": 200, "2": 400, "computed": 200}
    assert found["computed"]["against"] == "today"
    assert found["computed"]["gain"] == 0.75


def test_a_records_programs_share_nodes(tmp_path: Path) -> None:
    path = recorded(tmp_path, RING, [[0, 1, 2, 3], [4, 5, 6, 7]])
    order = tmp_path / "order"
    run_place(f"{path} --interleave io:2,solver:2 --output {order}")
    for line in order.read_text().splitlines()[1:]:
        ranks = [rank for part in line.split(",") for rank in _range(part)]
        assert sorted(rank % 2 for rank in ranks) == [0, 0, 1, 1]


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def test_an_order_replaces_only_an_order(tmp_path: Path) -> None:
    path = recorded(tmp_path, RING, [[0, 2, 4, 6], [1, 3, 5, 7]])
    before = path.read_bytes()
    assert "is not replaced (it does not begin as" in run_place(f"{path} --output {path}", 1)
    assert path.read_bytes() == before
    line = f"{tmp_path / 'absent.hrc'} --output {path}"
    assert "is not replaced" in run_place(line, 1), "before any work"
    for _ in range(2):
        run_place(f"{path} --output {tmp_path / 'order'}")


def test_the_line_to_type_is_one_of_words(tmp_path: Path) -> None:
    path = recorded(tmp_path, RING, [[0, 2, 4, 6], [1, 3, 5, 7]])
    order = tmp_path / "an order"
    done = CliRunner().invoke(cli, ["place", str(path), "--output", str(order)])
    assert f"headrace run --rank-order '{order}' ..." in done.stderr


def test_programs_are_interleaved_without_a_run(tmp_path: Path) -> None:
    order = tmp_path / "order"
    told = run_place(f"--interleave A:8,B:56 --nodes 3 --output {order}")
    assert "No order was found that sends less between nodes than 'interleaved'" in told
    assert order.read_text().splitlines()[1:] == ["0-7,24-79", "8-15,80-135", "16-23,136-191"]


def test_an_order_of_others_is_priced(tmp_path: Path) -> None:
    order = tmp_path / "order"
    order.write_text("0,1,4,5 # a block\n2,3,6,7\n\n8,9,12-13\n10,11,14,15\n")
    found = json.loads(run_place(f"--grid 4x4 --ranks-per-node 4 --check {order} --json"))
    (file,) = (one for one in found["orders"] if one["order"] == "file")
    assert (file["edges_between_nodes"], file["bytes_between_nodes"]) == (8, 16)


def test_a_useless_order_is_not_written(tmp_path: Path) -> None:
    told = run_place(f"--grid 16 --nodes 4 --output {tmp_path / 'order'}", 1)
    assert "less than a tenth" in told
    assert "Keep order 1" in told
    assert not (tmp_path / "order").exists()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--grid 4xx4 --ranks-per-node 4", "--grid 4xx4 is not understood"),
        ("--grid 0x4 --ranks-per-node 4", "a dimension has no ranks"),
        ("--grid 99999x99999 --nodes 2", "more than 16777216 ranks"),
        ("--grid 4x4 --stencil 6 --ranks-per-node 4", "stencils of 5, 9, 13, 17 points"),
        ("--grid 4x4", "give --ranks-per-node N or --nodes"),
        ("--grid 4x4 --nodes a:8,b:9", "it has 17 places for 16 ranks"),
        ("--grid 4x4 --nodes a:b", "is not understood"),
        ("--grid 4x4 --nodes 3 --ranks-per-node 4", "it has 12 places for 16 ranks"),
        ("--grid 4x4 --interleave A:3,B:4", "16 ranks do not fit --interleave"),
        ("--grid 4x4 --interleave A3", "is not understood"),
        ("--stencil 5", "give a record or --grid"),
        ("--grid 4x4 --nodes 4 --check nowhere", "order file 'nowhere' cannot be read"),
    ],
)
def test_bad_input_of_the_command(line: str, expected: str) -> None:
    assert expected in run_place(line, 2)


def test_records_that_give_no_order(tmp_path: Path) -> None:
    nodes = [[0, 1, 2, 3], [4, 5, 6]]
    assert "names rank 7" in run_place(str(recorded(tmp_path, RING[:7], nodes)), 1)
    assert "sent no messages" in run_place(str(recorded(tmp_path, [], nodes)), 1)
