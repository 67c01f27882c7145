"""`headrace simulate`: small jobs are counted as by hand and as by an account that shares no code
with the planner, large ones show what was published, and size costs no memory."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bench_support import bench_command
from cli_support import Command
from click.testing import CliRunner

from headrace.commands import simulate as simulate_command
from headrace.errors import HeadraceError

METHODS = ("direct", "cb_align 0", "cb_align 1", "cb_align 2", "cb_align 2, lock-ahead")
MEGABYTE = 1 << 20


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def played(bench: Command, *flags: object) -> list[dict[str, Any]]:
    done = bench("simulate", "--json", "out.json", *map(str, flags))
    assert done.returncode == 0, done.stderr
    return json.loads((bench.directory / "out.json").read_text())


def by_method(job: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {one["method"]: one for one in job["methods"]}
    assert tuple(found) == METHODS
    return found


def test_two_writers_of_one_object_are_counted_as_by_hand(bench: Command) -> None:
    sizes = ("--stripe-size", 8192, "--server-block", 8192, "--buffer", 8192)
    two = ("--ranks", 2, "--ranks-per-node", 1, "--stripes", 1, "--piece", 4096, "--calls", 2)
    methods = by_method(played(bench, *two, *sizes)[0])
    # Each of the four pieces but the first takes the lock from the other node, which sends half a
    # block; the last half is sent at the end.
    direct = methods["direct"]
    assert (direct["lock_transfers"], direct["lock_grants"]) == (3, 4)
    assert (direct["requests"], direct["read_modify_writes"]) == (4, 4)
    assert (direct["messages"], direct["rounds"]) == (0, 0)
    # One node writes a whole block in each call, half of it from the other node.
    ours = methods["cb_align 2"]
    assert (ours["aggregators"], ours["rounds"], ours["messages"]) == (1, 2, 2)
    assert ours["message_bytes"] == 2 * 4096
    assert (ours["lock_transfers"], ours["lock_grants"]) == (0, 1)
    assert (ours["requests"], ours["read_modify_writes"]) == (2, 0)


def test_messages_are_those_of_an_account_by_bytes(bench: Command) -> None:
    ranks, per_node, piece, pieces, calls, stripes, stripe = 6, 2, 1500, 3, 4, 3, 4096
    job = played(
        bench,
        *("--ranks", ranks, "--ranks-per-node", per_node, "--piece", piece),
        *("--pieces-per-call", pieces, "--calls", calls, "--stripes", stripes),
        *("--stripe-size", stripe, "--server-block", stripe, "--buffer", stripe),
    )[0]
    sent: Counter[tuple[int, int, int]] = Counter()
    for offset in range(ranks * piece * pieces * calls):
        node = offset // piece % ranks // per_node
        # Three objects on three nodes: object i is written by node i.
        if node != offset // stripe % stripes:
            sent[offset // (ranks * piece * pieces), offset // stripe, node] += 1
    ours = by_method(job)["cb_align 2"]
    assert ours["aggregators"] == stripes
    assert ours["messages"] == len(sent)
    assert ours["message_bytes"] == sum(sent.values())


def test_what_was_published_is_seen(bench: Command) -> None:
    large, small = (by_method(job) for job in played(bench))
    for methods in (large, small):
        rates = [methods[f"cb_align {number}"]["bytes_per_second"] for number in (0, 1, 2)]
        assert rates == sorted(rates)
        assert rates[2] > 1.5 * rates[1] > 1.5 * rates[0]
        locks = [methods[f"cb_align {number}"]["lock_transfers"] for number in (0, 1, 2)]
        assert locks[0] > locks[1] > locks[2] == 0
        assert methods["cb_align 2"]["lock_grants"] == 16, "one for each object"
        assert methods["cb_align 2"]["read_modify_writes"] == 1, "the file's end"
        assert methods["direct"]["lock_transfers"] > locks[1]
    assert small["direct"]["bytes_per_second"] < small["cb_align 0"]["bytes_per_second"]
    for one in large.values():
        assert one["bytes"] == 3220 * 32 * 1_000_000


def test_lock_ahead_keeps_several_writers_of_an_object_apart(bench: Command) -> None:
    methods = by_method(
        played(
            bench,
            *("--piece", 1_000_000, "--calls", 50, "--stripes", 2),
            *("--multiplier", 4, "--ranks-per-node", 1, "--ranks", 8),
        )[0]
    )
    assert methods["cb_align 2"]["aggregators"] == 8
    assert methods["cb_align 2"]["lock_transfers"] > 50
    assert methods["cb_align 2, lock-ahead"]["lock_transfers"] == 0


def test_the_largest_jobs_need_little_memory_for_planning(bench: Command) -> None:
    job = played(
        bench,
        *("--ranks", 131072, "--ranks-per-node", 128, "--stripes", 512),
        *("--piece", 1_000_000, "--calls", 1),
    )[0]
    ours = by_method(job)["cb_align 2"]
    assert ours["aggregators"] == 512
    assert ours["plan_bytes_of_rank"] <= 128
    assert ours["plan_bytes_of_leader"] < 64 * 1024
    assert ours["buffer_bytes_of_aggregator"] == 2 * MEGABYTE
    # 128 MB of a node's ranks lie in as many windows.
    assert 122 <= job["planning"]["windows"] <= 124


def test_a_table_and_a_figure_are_made(bench: Command) -> None:
    pytest.importorskip("matplotlib")
    done = bench("simulate", "--calls", "20", "--figure", "picture", "--cost", "message=1e-5")
    assert done.returncode == 0, done.stderr
    for method in METHODS:
        assert method in done.stdout
    assert "given" in done.stdout
    assert {file.name for file in bench.directory.iterdir()} == {"picture.svg", "picture.png"}


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("--stripe-size", "5000"), "cannot use stripes of 5000 bytes (they are no whole pages)"),
        (("--cost", "none=1"), "cannot use '--cost none=1'"),
        (("--cost", "message=-1"), "cannot use '--cost message=-1'"),
        (("--ranks", "0"), "Invalid value for '--ranks'"),
        (
            ("--calls", "1000000000", "--ranks", "1000000000"),
            "cannot play a file of more than 2^60 bytes (offsets would not hold it)",
        ),
    ],
)
def test_bad_input_is_told(bench: Command, flags: tuple[str, ...], text: str) -> None:
    done = bench("simulate", *flags)
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (("--json", "no/c.json"), "no"),
        (("--figure", "no/c"), "no"),
        (("--json", "d"), "d"),
        (("--json", "not/there.json"), "not"),
    ],
)
def test_where_nothing_can_be_written_nothing_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], name: str
) -> None:
    """What is asked for would be lost."""
    (tmp_path / "no").write_text("a file")
    (tmp_path / "d").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(simulate_command, "play", lambda *_: pytest.fail("it is played"))
    with pytest.raises(HeadraceError, match="cannot be written"):
        simulate_command.require_writable(tmp_path / flags[1])
    result = CliRunner().invoke(simulate_command.simulate, list(flags))
    assert result.exit_code != 0 and name in f"{result.exception} {result.output}"
