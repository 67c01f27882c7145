"""What `headrace bench collectives` tells of the bytes between nodes: the least that nodes must
send, against searches that share no code, and how counts become findings and tables."""

import itertools
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from headrace.bench.collectives import output
from headrace.bench.collectives.findings import Cell, Job, losing_first, read_jobs, to_text
from headrace.bench.collectives.least_sent import least_sent
from headrace.bench.collectives.sent import SentCell, most_sent_first
from headrace.errors import HeadraceError

SIZES = [(1, 1), (2, 2), (3, 1, 2), (1, 2, 1), (2, 2, 2, 2), (4, 4, 4, 4), (3, 1, 2, 2), (5,)]


def places(sizes: tuple[int, ...]) -> list[int]:
    """The node of each rank, rank 0 on the first."""
    return [node for node, size in enumerate(sizes) for _ in range(size)]


def copies(sizes: tuple[int, ...], wanted: Callable[[int, int], bool]) -> int:
    """How often a block comes to a node that has none of it, if each comes to a node once. Rank a
    has a block of its own for whoever wants it: wanted(a, b) of ranks."""
    nodes = places(sizes)
    ranks = range(len(nodes))
    needs = {
        (owner, nodes[other])
        for owner, other in itertools.product(ranks, ranks)
        if wanted(owner, other) and nodes[owner] != nodes[other]
    }
    return len(needs)


@pytest.mark.parametrize("sizes", SIZES)
def test_blocks_come_to_each_node_once(sizes: tuple[int, ...]) -> None:
    nodes = places(sizes)
    to_all = copies(sizes, lambda owner, other: True)
    assert least_sent("allgather", 8, sizes) == least_sent("allgatherv", 8, sizes) == 8 * to_all
    from_root = copies(sizes, lambda owner, other: owner == 0)
    assert least_sent("bcast", 1000, sizes) == 1000 * from_root
    to_root = copies(sizes, lambda owner, other: other == 0)
    for operation in ("gather", "gatherv", "scatter", "scatterv"):
        assert least_sent(operation, 24, sizes) == 24 * to_root
    # Each pair has a block of its own.
    pairs = sum(nodes[a] != nodes[b] for a, b in itertools.product(range(len(nodes)), repeat=2))
    for operation in ("alltoall", "alltoallv", "alltoallw"):
        assert least_sent(operation, 3, sizes) == 3 * pairs
    assert least_sent("barrier", 0, sizes) == 0


@cache
def fewest_messages(nodes: int, needing: frozenset[int]) -> int:
    """The fewest one-way messages after which the nodes that need it know the sum of all nodes'
    numbers: by breadth first over who knows of whom."""
    start = tuple(frozenset([node]) for node in range(nodes))
    everyone = frozenset(range(nodes))
    known, reached = {start}, 0
    while not any(all(one[node] == everyone for node in needing) for one in known):
        known = {made for one in known for made in _after_a_message(one)}
        reached += 1
    return reached


def _after_a_message(known: tuple[frozenset[int], ...]) -> Iterator[tuple[frozenset[int], ...]]:
    for sender, receiver in itertools.permutations(range(len(known)), 2):
        made = list(known)
        made[receiver] = known[receiver] | known[sender]
        if made[receiver] != known[receiver]:
            yield tuple(made)


@pytest.mark.parametrize(
    "sizes", [(1, 1), (2, 1), (1, 2, 1), (3, 1, 2), (2, 2, 2, 2), (3, 1, 2, 2)]
)
def test_sums_take_the_fewest_messages(sizes: tuple[int, ...]) -> None:
    """An element's sum: what each node gives must come to those that need it."""
    nodes = len(sizes)
    to_one = fewest_messages(nodes, frozenset([0]))
    assert least_sent("reduce", 8, sizes) == 8 * to_one
    assert least_sent("allreduce", 8, sizes) == 8 * fewest_messages(nodes, frozenset(range(nodes)))
    # Each rank's part of the sums is needed on its node alone.
    for operation in ("reduce_scatter", "reduce_scatter_block"):
        assert least_sent(operation, 8, sizes) == 8 * sum(sizes) * to_one


def test_other_operations_have_no_least() -> None:
    with pytest.raises(KeyError):
        least_sent("scan", 8, (1, 1))


def cell(plain: float, ours: float, operation: str = "allgather", speed: float = 1.0) -> Cell:
    """Bytes of a call; `speed`: how many times as fast Headrace is."""
    seconds = [1e-6 * (1 + i / 100) for i in range(12)]
    wobble = [1 + i / 1e5 for i in range(12)]
    return Cell(
        operation,
        1024,
        10,
        0,
        seconds,
        [one / speed for one in seconds],
        "ring of nodes",
        plain_sent=[plain * one for one in wobble],
        headrace_sent=[ours * one for one in wobble],
        plain_packets=[4.0] * 12,
        headrace_packets=[2.0] * 12,
        planned_messages=12,
    )


def job(*cells: Cell) -> Job:
    return Job(
        *("MPICH 5.0.2", "mpich", 8, 4, "a line", "2026-11-30", list(cells)),
        node_ranks=3,
        node_sizes=[3, 1, 2, 2],
    )


def test_where_headrace_sends_more_comes_first() -> None:
    less, same, bit_more, more = (cell(100_000, ours) for ours in (5e4, 1e5, 1.02e5, 1.1e5))
    found = job(less, same, bit_more, more)
    order = most_sent_first([found])
    assert [one.cell for one in order] == [more, bit_more, same, less]
    assert [one.is_greater for one in order] == [True, False, False, False]
    assert [one.is_less for one in order] == [False, False, False, True]
    page = output.page([found])
    assert "send over 3% more with Headrace in 1 of 4 cells, and surely less in 1." in page
    rows = [line for line in page.splitlines() if "ring of nodes" in line and "24,576" in line]
    assert len(rows) == 4 and "1.10 [1.10, 1.10] MORE" in rows[0] and "MORE" not in rows[1]
    # To the least: 8 ranks' blocks of 1 KiB to three other nodes each.
    assert "| 24,576 | 100,006 | 50,003 | 4.07 | 2.03 |" in rows[3]
    assert rows[3].endswith("| 4.0 | 2.0 | 12 | ring of nodes |")


def test_a_loss_of_time_does_not_hide_one_of_bytes() -> None:
    slow, greedy = cell(1e5, 5e4, speed=0.5), cell(1e5, 2e5, speed=2.0)
    jobs = [job(greedy, slow)]
    assert [one for _, one in losing_first(jobs)] == [slow, greedy]
    assert [one.cell for one in most_sent_first(jobs)] == [greedy, slow]


def test_less_than_nodes_must_send_tells_nothing() -> None:
    """Such as counters that are brought up to date once a second."""
    must = 8 * 3 * 1024
    half_seen, unseen = cell(3 * must, must * 0.9), cell(0, 1e6)
    seen = cell(must, must * 1.2)
    order = most_sent_first([job(unseen, half_seen, seen)])
    assert order[0].cell is seen and order[0].is_greater
    assert not any(one.is_seen or one.is_greater or one.is_less for one in order[1:])
    page = output.page([job(unseen, half_seen, seen)])
    assert "more with Headrace in 1 of 1 cells" in page and "In 2 cells the counters" in page
    assert page.count("| NOT SEEN |") == 2


def test_too_few_batches_tell_nothing() -> None:
    few = Cell(
        *("bcast", 8, 1, 0, [1e-6] * 2, [1e-6] * 2),
        plain_sent=[100.0, 100.0],
        headrace_sent=[300.0, 300.0],
        plain_packets=[1.0, 1.0],
        headrace_packets=[1.0, 1.0],
    )
    one = SentCell(job(few), few)
    assert one.is_seen and not one.is_greater and few.sent_ratio.median == 3


def test_nothing_sent_has_no_ratio() -> None:
    silent = cell(0, 0, "barrier")
    assert silent.sent_ratio is None and not SentCell(job(silent), silent).is_greater
    assert "| barrier |" in output.page([job(silent, cell(1e5, 1e5))])


def test_why_nothing_was_counted_is_told() -> None:
    plain = Cell("bcast", 8, 1, 0, [1e-6] * 12, [1e-6] * 12)
    alone = Job("Open MPI 5.0.11", "openmpi", 2, 1, "s", "2026-11-30", [plain], node_sizes=[2])
    page = output.page([alone])
    assert "- On one node nothing goes between nodes: Open MPI 5.0.11, 2 ranks." in page
    assert "What nodes send" not in page
    page = output.page([job(plain)])
    assert "What nodes send was not counted (no counters could be read): MPICH 5.0.2" in page
    assert "Headrace bytes" not in page


def test_a_document_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    jobs = [job(cell(1e5, 5e4), cell(0, 0, "barrier"))]
    file.write_text(to_text(jobs))
    assert read_jobs(file) == jobs


def test_documents_without_counts_are_read(tmp_path: Path) -> None:
    """Those that were written before what nodes send was counted."""
    file = tmp_path / "c.json"
    document = json.loads(to_text([job(cell(1e5, 5e4))]))
    (entry,) = document["jobs"]
    del entry["node_sizes"]
    for name in ("plain_sent", "headrace_sent", "plain_packets", "headrace_packets"):
        del entry["cells"][0][name]
    file.write_text(json.dumps(document))
    (found,) = read_jobs(file)
    assert not found.cells[0].is_counted and found.least_sent("bcast", 8) is None


@pytest.mark.parametrize(
    "change",
    [
        {"plain_sent": [-1.0] * 12},
        {"plain_sent": [1.0] * 11},
        {"headrace_sent": []},
        {"headrace_packets": ["1"] * 12},
        {"plain_packets": [float("nan")] * 12},
        {"planned_messages": "12"},
        {"planned_messages": -1},
    ],
)
def test_bad_counts_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "c.json"
    document = json.loads(to_text([job(cell(1e5, 5e4))]))
    document["jobs"][0]["cells"][0] |= change
    file.write_text(json.dumps(document))
    with pytest.raises(HeadraceError, match="cannot be read"):
        read_jobs(file)


@pytest.mark.parametrize("sizes", [[3, 1, 2], [4, 1, 2, 1], [3, 1, 2, 1], [3, 3, 2], [2, 2, 2, 2]])
def test_nodes_that_do_not_fit_are_refused(tmp_path: Path, sizes: list[int]) -> None:
    file = tmp_path / "c.json"
    document = json.loads(to_text([job()]))
    document["jobs"][0]["node_sizes"] = sizes
    file.write_text(json.dumps(document))
    with pytest.raises(HeadraceError, match="cannot be read"):
        read_jobs(file)
