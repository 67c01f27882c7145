"""Rules: their language, their files, what they say of metrics, and the settings they lead to."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cli_support import ROOT, Command
from record_support import MILLISECOND, Job, small_job

from headrace.advice.applying import changes
from headrace.advice.expression import BadExpression, parse
from headrace.advice.judging import filled, judge
from headrace.advice.rules import OWN, collect, load
from headrace.analysis.analyse import analyse
from headrace.analysis.settings import Setting
from headrace.commands._findings import findings_of
from headrace.errors import HeadraceError
from headrace.record.reader import read

RULES = collect(())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("-a / 4", -0.5),
        ("a > 1 and b < 1", True),
        ("not a == 2", False),
        ("min(a, b, 5)", 0.5),
        ("a / (b - 0.5)", None),
        ("a > 1 and unknown > 1", None),
        ("a < 1 and unknown > 1", False),
        ("a > 1 or unknown > 1", True),
        ("unknown + 1", None),
        ("max(a, unknown)", None),
        ("0 < a <= 2", True),
    ],
)
def test_expressions(text: str, value: object) -> None:
    assert parse(text).value({"a": 2.0, "b": 0.5, "unknown": None}) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "a b", "a.b", "a[0]", "'text'", "True", "None", "lambda: 1", "[a]", "{a}", "f'{a}'"),
        *("__import__('os')", "open(a, b)", "min(a)", "min(*a, b)", "min(a, key=b)", "a ** 9 ** 9"),
        *("a if b else c", "(a := 1)", "a << 9", "a in b", "a is b", "-" * 99 + "1", "1 +" * 600),
        *("print(a, b)", "(min)(a, b).x", "a % b", "1j", "b'1'", "a @ b", "await a", "\0"),
    ],
)
def test_nothing_else_is_an_expression(text: str) -> None:
    with pytest.raises(BadExpression):
        parse(text)


def test_own_rules_name_known_metrics(tmp_path: Path) -> None:
    metrics = analyse(read(small_job().write(tmp_path))).metrics
    costs = analyse(read(small_job().write(tmp_path))).costs
    ids = [rule.id for path in OWN for rule in load(path)]
    assert len(set(ids)) == len(ids) == len(RULES) > 30
    for rule in RULES:
        for one in filter(None, (rule.when, rule.bound, rule.lower, rule.own)):
            assert one.names <= metrics.keys(), rule.id
        known = dict.fromkeys(metrics, 1.0)
        assert rule.evidence and all(filled(text, known) for text in rule.evidence), rule.id
        assert set(rule.suppressed_by) <= set(ids) - {rule.id}, rule.id
        assert not rule.cost or rule.cost in costs, rule.id
        assert rule.by, rule.id


def test_every_rule_can_miss_any_metric(tmp_path: Path) -> None:
    metrics = analyse(read(small_job().write(tmp_path))).metrics
    for missing in metrics:
        judged = judge(RULES, {**metrics, missing: None})
        said = {one.rule.id for one in judged.advice}
        assert not said & {one.rule.id for one in judged.unjudged}
    judged = judge(RULES, dict.fromkeys(metrics))
    assert not judged.advice and len(judged.unjudged) == len(RULES)
    assert all(one.reasons for one in judged.unjudged)


def imbalanced() -> Job:
    """Ranks 0 to 3 compute 5, 5, 5 and 9 s of 10 and then meet in a barrier."""
    job = Job(facts={"ranks": "4", "nodes": "1"})
    node = job.node()
    world = node.add("communicators", size=4, on_node=4, name="MPI_COMM_WORLD")
    for rank, inside in enumerate((5000, 5000, 5000, 1000)):
        node.add(
            "ranks", rank=rank, host="n0", cores=f"{rank}", state=1, run=10_000 * MILLISECOND,
            cpu_user=10_000 * MILLISECOND, threads=1,
        )  # fmt: skip
        node.call(
            rank, "MPI_Barrier", 1, communicator=world, calls=10, time=inside * MILLISECOND,
            least=50 * MILLISECOND, greatest=900 * MILLISECOND, bin0=10,
        )  # fmt: skip
    return job


def test_bounds_are_no_averages(tmp_path: Path) -> None:
    """Rank 1 spends 4 of 10 s in the system, or in an exchange, and rank 0 waits for it: nearly 4 s
    are gained without that, and the average rank spends 2."""
    job = Job(facts={"ranks": "2", "nodes": "1"})
    node = job.node()
    world = node.add("communicators", size=2, on_node=2, name="MPI_COMM_WORLD")
    for rank, inside, system in ((0, 4000, 0), (1, 10, 4000)):
        node.add(
            "ranks", rank=rank, host="n0", cores=f"{rank}", state=1, run=10_000 * MILLISECOND,
            cpu_user=(10_000 - system) * MILLISECOND, cpu_system=system * MILLISECOND, threads=1,
        )  # fmt: skip
        node.call(
            rank, "MPI_Barrier", 1, communicator=world, calls=10, time=inside * MILLISECOND,
            least=MILLISECOND, greatest=900 * MILLISECOND, bin0=10,
        )  # fmt: skip
        node.add(
            "files", rank=rank, file="/file", opens=1, written=1000, collective_writes=1,
            exchange=system * MILLISECOND, time=system * MILLISECOND,
        )  # fmt: skip
    metrics = analyse(read(job.write(tmp_path))).metrics
    for cost in ("system", "io_exchange"):
        assert metrics[f"{cost}_seconds"] == pytest.approx(2.0)
        assert metrics[f"{cost}_bound_upper_seconds"] == pytest.approx(3.995)


def test_bounds_by_hand(tmp_path: Path) -> None:
    found = analyse(read(imbalanced().write(tmp_path)))
    # Without any barrier rank 3 still computes 9 s: at most 1 s is gained.
    assert found.metrics["barrier_bound_upper_seconds"] == pytest.approx(1.0)
    # A cost of nothing leaves the waiting: 1 s less the ten calls' transfer, and at least 0.
    assert found.metrics["polling_bound_upper_seconds"] == pytest.approx(0.75)
    assert found.metrics["polling_bound_lower_seconds"] == pytest.approx(0.0)
    assert found.metrics["imbalance_seconds"] == pytest.approx(3.0)
    judged = judge(RULES, found.metrics)
    first = judged.advice[0]
    # The average rank waits at most (3 x 4.75 + 0.75) / 4 s.
    assert (first.rule.id, first.upper) == ("load-imbalance", pytest.approx(3.75))
    assert first.lower == pytest.approx(3.0)
    assert [(rule.id, cause) for rule, cause in judged.suppressed] == [
        ("barriers", "load-imbalance")
    ]


def test_rules_are_proven_or_hints() -> None:
    """Programs of tests/mpi/test_advice.py and test_profile_advice.py prove them, or logs of
    test_darshan_logs.py."""
    cases: set[str] = set()
    for name in ("advised.c", "sampled.c"):
        text = (ROOT / "tests" / "mpi" / "programs" / name).read_text()
        cases |= set(re.findall(r'^    \{"([a-z-]+)"', text, re.MULTILINE))
    run = {rule.id for rule in RULES if rule.proof in ("program", "gain")}
    assert run == cases | {"same-core", "oversubscribed", "python-interpreter"}
    logs = (Path(__file__).parent / "test_darshan_logs.py").read_text()
    assert all(f'"{rule.id}"' in logs for rule in RULES if rule.proof == "log")
    assert {rule.proof for rule in RULES} <= {"program", "gain", "log", ""}
    assert all(rule.is_hint != bool(rule.proof) for rule in RULES)


def test_the_lower_end_orders_bounds_that_are_alike() -> None:
    metrics = {"run_seconds": 100.0, "io_open_share": 0.3, "opens_per_rank_ratio": 15.0}
    metrics |= {"barrier_share": 0.03, "barrier_bound_upper_seconds": 99.01}
    metrics |= {"barrier_bound_lower_seconds": 3.0, "io_open_bound_upper_seconds": 99.0}
    metrics |= {"io_open_bound_lower_seconds": 21.0}
    assert [one.rule.id for one in judge(RULES, metrics).advice][:2] == ["opened-again", "barriers"]
    metrics["barrier_bound_upper_seconds"] = 101.0
    assert [one.rule.id for one in judge(RULES, metrics).advice][:2] == ["barriers", "opened-again"]


MPICH, OPEN_MPI = "MPICH Version:      5.0.2", "Open MPI v5.0.11, package: x"


def advised_settings(folder: Path, procedure: str, size: int, **changed: Any) -> list[str]:
    """What is to be set for a run that calls it all the time. changed: facts and settings."""
    facts = {"ranks": "2", "nodes": "1", "mpi": MPICH} | changed
    ranks, own = int(facts["ranks"]), facts.pop("settings", {})
    job = Job(facts={name: str(value) for name, value in facts.items()})
    node = job.node()
    world = node.add("communicators", size=ranks, on_node=ranks, name="MPI_COMM_WORLD")
    for name, value in {"HEADRACE_COLLECTIVES": "0", **own}.items():
        node.add("settings", name=name, value=value, origin="default")
    for rank in range(ranks):
        node.add(
            "ranks", rank=rank, host="n0", cores=f"{rank}", state=1, run=1000 * MILLISECOND,
            cpu_user=1000 * MILLISECOND, threads=1,
        )  # fmt: skip
        node.call(
            rank, procedure, 1, communicator=world, path=-1, calls=100_000, sent=100_000 * size,
            time=500 * MILLISECOND, least=1000, greatest=MILLISECOND, bin0=100_000,
        )  # fmt: skip
    found = analyse(read(job.write(folder)))
    made = changes(judge(RULES, found.metrics), found.settings, ())
    return [one.name for one in made if one.section == "headrace"]


@pytest.mark.parametrize(
    ("procedure", "size", "changed", "is_advised"),
    [
        ("MPI_Allgather", 8, {}, True),
        ("MPI_Alltoall_c", 64, {}, True),
        ("MPI_Allreduce", 65536, {}, True),
        ("MPI_Bcast", 1024, {"mpi": OPEN_MPI}, True),
        ("MPI_Allreduce", 8, {}, False),
        ("MPI_Barrier", 0, {}, False),
        ("MPI_Allgather", 8, {"mpi": OPEN_MPI}, False),
        ("MPI_Allgather", 8, {"mpi": "Intel(R) MPI Library 2021.18 for Linux* OS"}, False),
        ("MPI_Allgather", 8, {"mpi": "MPICH Version:      4.0.2"}, False),
        ("MPI_Allgather", 8, {"mpi": "MPICH Version:      50.1"}, False),
        ("MPI_Allgather", 8, {"mpi": "MPI VERSION    : CRAY MPICH version 5.0.0"}, False),
        ("MPI_Allgather", 8, {"nodes": 2}, False),
        ("MPI_Allgather", 8, {"ranks": 3}, False),
        ("MPI_Allgather", 8, {"settings": {"HEADRACE_COLLECTIVES": "1"}}, False),
        ("MPI_Allgather", 8, {"settings": {"HEADRACE_COLL_TABLE": "t.toml"}}, False),
    ],
)
def test_collectives_are_switched_on_where_the_table_has_them(
    tmp_path: Path, procedure: str, size: int, changed: dict[str, Any], is_advised: bool
) -> None:
    found = advised_settings(tmp_path, procedure, size, **changed)
    assert found == ["HEADRACE_COLLECTIVES"] * is_advised


def test_silence_below_one_percent(tmp_path: Path) -> None:
    metrics = dict(analyse(read(imbalanced().write(tmp_path))).metrics)
    metrics.update(imbalance_seconds=0.09, balance_bound_upper_seconds=0.09)
    assert "load-imbalance" not in {one.rule.id for one in judge(RULES, metrics).advice}


OF_A_SITE = """
[[rules]]
id = "many-ranks"
title = "Many ranks"
when = "ranks >= 2"
bound = "run_seconds / 2"
evidence = ["{ranks} ranks", "{eager_limit_bytes}"]
action = "Try fewer."
by = ["headrace"]
settings.headrace.HEADRACE_VERIFY = true
settings.headrace.HEADRACE_QUIET = "0"
settings.launcher.bind = "core"
"""


def test_rules_of_a_site_and_apply(headrace: Command, tmp_path: Path) -> None:
    rules = tmp_path / "site.toml"
    rules.write_text(OF_A_SITE)
    record = small_job().write(tmp_path)
    done = headrace("report", record, "--rules", rules)
    assert "Many ranks: gains at most 0.50 s" in "\n".join(done.stdout.splitlines()[:12])
    done = headrace("apply", record, "--rules", rules)
    assert done.returncode == 0, done.stderr
    target = record.with_suffix(".toml")
    assert tomllib.loads(target.read_text()) == {"settings": {"HEADRACE_VERIFY": True}}
    assert "HEADRACE_QUIET" in done.stdout and "left as you set it: 1" in done.stdout
    assert 'launcher: bind = "core"' in done.stdout and "launcher: bind" in target.read_text()
    done = headrace("run", "--settings", target, "--launcher", "inherit", "--dry-run", "true")
    assert done.returncode == 0 and "HEADRACE_VERIFY" in done.stdout, done.stderr


def test_the_line_to_type_is_one_of_words(headrace: Command, tmp_path: Path) -> None:
    """Whatever the folder is called."""
    rules = tmp_path / "site.toml"
    rules.write_text(OF_A_SITE)
    folder = tmp_path / "it's $(mine)"
    folder.mkdir()
    record = small_job().write(folder)
    *_, line = headrace("apply", record, "--rules", rules).stdout.splitlines()
    assert shlex.split(line)[2:] == ["--settings", str(record.with_suffix(".toml")), "..."]
    done = headrace("apply", record, "--rules", rules, "-o", folder / "\x1b[2J.toml")
    assert done.returncode == 0 and "\\u001b[2J.toml" in done.stdout and "\x1b" not in done.stdout


def test_apply_without_a_setting(headrace: Command, tmp_path: Path) -> None:
    record = small_job().write(tmp_path)
    done = headrace("apply", record)
    assert done.returncode == 0 and "Nothing was written" in done.stdout
    assert not record.with_suffix(".toml").exists()


def test_what_is_set_is_kept_and_the_next_run_is_recorded() -> None:
    """Without a record of the next run nothing could be compared."""
    assert not any("HEADRACE_RECORD" in keys for one in RULES for keys in one.settings.values())
    metrics = {"io_share": 0.5, "files": 1.0, "exchange_share": 0.9, "run_seconds": 2.0}
    bounds = dict.fromkeys(("bound_upper_seconds", "bound_lower_seconds", "seconds"), 1.0)
    judged = judge(RULES, metrics | {f"io_exchange_{name}": one for name, one in bounds.items()})
    for origin, kept in (("environment", "staged"), ("default", None)):
        own = [Setting("HEADRACE_WRITE_PATH", "staged", origin, 1)]
        (change,) = changes(judged, own, [])
        assert (change.name, change.value) == ("HEADRACE_WRITE_PATH", "direct")
        assert change.kept == kept


def test_apply_replaces_only_what_it_has_made(headrace: Command, tmp_path: Path) -> None:
    rules = tmp_path / "site.toml"
    text = OF_A_SITE.replace("HEADRACE_VERIFY = true", 'HEADRACE_LOGPATH = "\U0001f4be\\u007f"')
    rules.write_text(text, encoding="utf-8")
    record = small_job().write(tmp_path)
    target = record.with_suffix(".toml")
    target.write_text("precious")
    done = headrace("apply", record, "--rules", rules)
    assert done.returncode == 1 and "is not replaced (it does not begin as" in done.stderr
    assert target.read_text() == "precious"
    target.unlink()
    for _ in range(2):
        assert headrace("apply", record, "--rules", rules).returncode == 0
    assert tomllib.loads(target.read_text("utf-8")) == {
        "settings": {"HEADRACE_LOGPATH": "\U0001f4be\x7f"}
    }


SETS = "[[rules]]\nid='a'\ntitle='t'\naction='x'\nwhen='1'\nsettings."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no [[rules]]"),
        ("x = ", "are not used"),
        ("[[rules]]\ntitle='t'", "a rule has no id"),
        ("[[rules]]\nid='a'\ntitle='t'", "rule a has no action"),
        ("[[rules]]\nid='a'\ntitle='t'\naction='x'\nwhen='f(x)'", "is not allowed in it"),
        ("[[rules]]\nid='a'\ntitle='t'\naction='x'\nwhen='1'\nfoo=1", "has the key foo"),
        ("[[rules]]\nid='a'\ntitle='t'\naction='x'\nwhen='1'\nby=['me']", "rule a, by: one of"),
        ("[[rules]]\nid='a'\ntitle='t'\naction='x'\nwhen='1'\nsettings.x=1", "sections are"),
        (SETS + "headrace.HEADRACE_LIBRARY='x'", "HEADRACE_LIBRARY', which no rule may set"),
        (SETS + "headrace.\"X=1\\n[environment]\\nA\"='x'", "which no rule may set"),
        (SETS + "environment.HYDRA_LAUNCHER_EXEC='x'", "which no rule may set"),
        (SETS + "environment.UCX_X='a/b'", "UCX_X has the name of a file"),
        (SETS + "headrace.HEADRACE_QUIET=2026-11-28", "'HEADRACE_QUIET' is neither text nor"),
        (SETS + "launcher.bind=1.5", "'bind' is neither text nor"),
    ],
)
def test_bad_rules_are_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(HeadraceError, match=why.replace("[", r"\[")):
        load(path)
    with pytest.raises(HeadraceError, match="cannot be read"):
        load(tmp_path / "none")


def on_two_nodes(folder: Path, procedure: str, pairs: list[tuple[int, int]]) -> dict:
    """Ranks 0 and 1 on one node, 2 and 3 on another; those of a pair talk. -> metrics."""
    job = Job(facts={"ranks": "4", "nodes": "2"})
    for ranks in ((0, 1), (2, 3)):
        node = job.node()
        world = node.add("communicators", size=4, on_node=2, name="MPI_COMM_WORLD")
        for rank in ranks:
            node.add("ranks", rank=rank, host="n", state=1, run=10_000 * MILLISECOND, threads=1)
            node.call(rank, procedure, 1, communicator=world, calls=1, time=1, bin0=1)
            for one, other in pairs:
                if rank in (one, other):
                    peer = other if rank == one else one
                    node.add("matrix", rank=rank, peer=peer, messages=1, sent=1000)
    return findings_of([job.write(folder)]).metrics


@pytest.mark.parametrize(
    ("procedure", "pairs", "expected"),
    [
        ("MPI_Cart_create", [(0, 2), (1, 3)], {"rank-order", "cart-reorder"}),
        ("MPI_Dist_graph_create", [(0, 2), (1, 3)], {"rank-order", "cart-reorder"}),
        ("MPI_Barrier", [(0, 2), (1, 3)], {"rank-order"}),
        ("MPI_Cart_create", [(0, 1), (2, 3)], set()),
        ("MPI_Cart_create", [(0, 1), (1, 2), (2, 3), (3, 0)], set()),  # the best is what it has
    ],
)
def test_orders_are_advised_where_they_gain(
    procedure: str, pairs: list[tuple[int, int]], expected: set[str], tmp_path: Path
) -> None:
    metrics = on_two_nodes(tmp_path, procedure, pairs)
    said = {one.rule.id for one in judge(RULES, metrics).advice}
    assert said & {"rank-order", "cart-reorder"} == expected


def test_what_ranks_send_themselves_hides_no_order(tmp_path: Path) -> None:
    """Of three pairs on two nodes, all apart, an order brings two together."""
    pairs = [(0, 2), (1, 3), (0, 3)]
    metrics = on_two_nodes(tmp_path, "MPI_Cart_create", pairs + 20 * [(1, 1)])
    assert (metrics["message_bytes"], metrics["off_node_share"]) == (6000, 1)
    assert metrics["computed_on_node_share"] == pytest.approx(2 / 3)
    assert metrics["most_peers"] == 2  # of ranks 0 and 3
    said = {one.rule.id for one in judge(RULES, metrics).advice}
    assert said >= {"rank-order", "cart-reorder"}
    alone = on_two_nodes(tmp_path, "MPI_Barrier", [(1, 1)])
    assert (alone["message_bytes"], alone["most_peers"]) == (0, 0)
