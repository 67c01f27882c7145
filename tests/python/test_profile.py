"""What reports and exports make of samples."""

import json
import subprocess
from pathlib import Path

import pytest
from cli_support import ROOT
from record_support import MILLISECOND, Job, NodeTables
from rich.console import Console
from schema_support import check

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.errors import HeadraceError
from headrace.launch.child import run_child
from headrace.launch.values import Launch
from headrace.profile.export import folded, speedscope
from headrace.profile.profile import Profile, profile
from headrace.profile.samples import Samples
from headrace.record.reader import read
from headrace.report.document import document
from headrace.report.page import page
from headrace.report.profile_tables import profile_tables
from headrace.report.terminal import show
from headrace.symbols.resolver import Symbols, resolve_frames

SCHEMA = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())
RULES = collect(())
MS = MILLISECOND


def path(node: NodeTables, *functions: str) -> int:
    """A path of functions, the outermost first. Their frames need no file to be looked into."""
    place = -1
    for line, name in enumerate(functions, 1):
        module = node.add("modules", file=f"/src/{name}.py")
        place = node.add("paths", caller=place, module=module, function=name, line=line)
    return place


def sampled_job(ranks: int = 2) -> Job:
    """On each node a rank: 30 and 10 ms in hot, 10 in cold, 5 in a region; rank 1 also waits."""
    job = Job(facts={"ranks": str(ranks), "nodes": str(ranks), "command": "./app"})
    for number in range(ranks):
        node = job.node()
        node.add("ranks", rank=number, host="n0", state=1, run=1000 * MS, threads=1)
        node.add("regions", rank=number, thread=0, region=1, id=3, label="solve", entries=1)
        node.add(
            "sampling", rank=number, thread=0, name="app", source=1, period=10 * MS,
            samples=5, time=50 * MS, cpu=55 * MS, lost=1, cut=2,
        )  # fmt: skip
        hot = path(node, "main", "work", "hot")
        cold = path(node, "main", "cold")
        for place, region, samples in ((hot, 1, 3 - 2 * number), (cold, 0, 1), (cold, 1, 1)):
            node.add(
                "samples", rank=number, thread=0, path=place, region=region, samples=samples,
                time=10 * MS * samples,
            )  # fmt: skip
    return job


def profile_of(file: Path, ranks: int = 2) -> Profile:
    samples = Samples(read(file))
    made = profile(samples, resolve_frames({f for p in samples.paths() for f in p}), ranks)
    assert made is not None
    return made


def test_samples_are_added_up_by_function(tmp_path: Path) -> None:
    made = profile_of(sampled_job().write(tmp_path))
    by_name = {one.name: one for one in made.functions}
    hot, cold, main = by_name["hot"], by_name["cold"], by_name["main"]
    assert (made.samples, made.time, made.cpu) == (8, 80 * MS, 110 * MS)
    assert (hot.samples, hot.time, made.share(hot.time)) == (4, 40 * MS, 0.5)
    assert (cold.samples, cold.time) == (4, 40 * MS)
    assert (main.samples, main.time, main.with_callees) == (0, 0, 80 * MS)
    assert hot.by_rank == {0: 30 * MS, 1: 10 * MS}
    # CrayPat's: (greatest - average) / greatest x ranks / (ranks - 1)
    assert hot.balance.imbalance_percent == pytest.approx(100 * (30 - 20) / 30 * 2)
    assert made.regions == {"solve": 60 * MS, "": 20 * MS}


def test_the_tree_has_callers_outside(tmp_path: Path) -> None:
    tree = profile_of(sampled_job().write(tmp_path)).tree
    (main,) = tree.costliest()
    assert (main.name, main.time, main.own) == ("main", 80 * MS, 0)
    assert [(one.name, one.time, one.own) for one in main.costliest()] == [
        ("cold", 40 * MS, 40 * MS),
        ("work", 40 * MS, 0),
    ]


def test_recursion_counts_once(tmp_path: Path) -> None:
    job = sampled_job(1)
    node = job.nodes[0]
    place = path(node, "main", "again", "again", "again")
    node.add("samples", rank=0, thread=0, path=place, samples=2, time=20 * MS)
    made = profile_of(job.write(tmp_path), 1)
    (again,) = (one for one in made.functions if one.name == "again")
    assert (again.time, again.with_callees) == (20 * MS, 20 * MS)
    (tree,) = (one for one in profile_tables(made) if one.title == "Profile by caller")
    assert [row[0] for row in tree.rows if "again" in row[0]] == ["  again (3 deep)"]


def test_what_headrace_takes_is_named(tmp_path: Path) -> None:
    job = sampled_job(1)
    node = job.nodes[0]
    notes = []
    for _ in range(2):
        made = profile_of(job.write(tmp_path), 1)
        (table,) = (one for one in profile_tables(made) if one.title == "Profile by function")
        notes.append("Headrace itself" in table.note)
        module = node.add("modules", file="/opt/lib/libheadrace.so")
        place = node.add("paths", caller=-1, module=module, offset=64)
        node.add("samples", rank=0, thread=0, path=place, samples=1, time=10 * MS)
    assert notes == [False, True]


def test_json_text_and_page(tmp_path: Path) -> None:
    file = sampled_job().write(tmp_path)
    found, made = analyse(read(file)), profile_of(file)
    judged = judge(RULES, found.metrics)
    told = json.loads(json.dumps(document(found, Symbols(), judged, made)))
    check(told, SCHEMA)
    assert told["profile"]["functions"][0]["share"] == 0.5
    out = Console(width=240)
    with out.capture() as text:
        show(out, found, Symbols(), judged, made)
    assert "Profile by function" in text.get() and "50.0%" in text.get()
    assert "8 samples of 2 threads, by CPU timer, 100 a second asked" in text.get()
    written = page(found, Symbols(), judged, made)
    assert 'class="flame"' in written and "<title>hot: 50.00%" in written
    assert "<script" not in written


def test_a_run_without_samples_has_no_profile(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1", "nodes": "1"})
    job.node().add("ranks", rank=0, host="n0", state=1, run=1000 * MS, threads=1)
    file = job.write(tmp_path)
    assert profile(Samples(read(file)), Symbols(), 1) is None
    found = analyse(read(file))
    told = document(found, Symbols(), judge(RULES, found.metrics))
    check(json.loads(json.dumps(told)), SCHEMA)
    assert told["profile"] is None
    with pytest.raises(HeadraceError, match="has no samples"):
        speedscope.write(read(file), tmp_path / "out.json")


def test_samples_without_a_path_or_thread_are_counted(tmp_path: Path) -> None:
    job = sampled_job(1)
    job.nodes[0].add("samples", rank=0, thread=9, path=-1, samples=1, time=10 * MS)
    made = profile_of(job.write(tmp_path), 1)
    assert made.samples == 6
    assert {one.name for one in made.functions} >= {"(unknown)"}


def test_speedscope(tmp_path: Path) -> None:
    made = speedscope.speedscope(read(sampled_job().write(tmp_path)))
    names = [one["name"] for one in made["shared"]["frames"]]
    assert [one["name"] for one in made["profiles"]] == [
        "rank 0 thread 0 (app)",
        "rank 1 thread 0 (app)",
    ]
    first = made["profiles"][0]
    assert first["endValue"] == sum(first["weights"]) == 50 * MS
    stacks = [[names[place] for place in stack] for stack in first["samples"]]
    assert ["main", "work", "hot"] in stacks


def test_folded_stacks(tmp_path: Path) -> None:
    lines = folded.folded(read(sampled_job().write(tmp_path)))
    assert "rank 0 thread 0 (app);main;work;hot 3" in lines
    assert "rank 1 thread 0 (app);main;cold 2" in lines


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_code_of_a_child(script: str, code: int) -> None:
    assert run_child(Launch(["/bin/sh", "-c", script], {}, "/bin/sh")) == code


def test_a_real_program_s_lines(tmp_path: Path) -> None:
    """In inlined code: the function that the compiler made, the inlined one, its line."""
    source, program = tmp_path / "one.c", tmp_path / "one"
    source.write_text(
        "static inline __attribute__((always_inline)) int inner(int x) {\n"
        "  return x * 3 + 1;\n}\n"
        "__attribute__((noinline)) int outer(int x) {\n  return inner(x);\n}\n"
        "int main(int c, char** v) { return outer(c); }\n"
    )
    flags = ["-g", "-O1", "-Wl,--build-id"]
    subprocess.run(["cc", *flags, source, "-o", program], check=True)
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    address = next(int(line.split()[0], 16) for line in symbols.splitlines() if " outer" in line)
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
    build_id = notes.stdout.split("Build ID: ")[1].split()[0]
    job = sampled_job(1)
    node = job.nodes[0]
    module = node.add("modules", file=str(program), build_id=build_id)
    place = node.add("paths", caller=-1, module=module, offset=address + 1)
    node.add("samples", rank=0, thread=0, path=place, samples=9, time=90 * MS)
    made = profile_of(job.write(tmp_path), 1)
    hottest = made.lines[0].place
    assert (hottest.function, hottest.inlined) == ("outer", "inner")
    assert (Path(hottest.file).name, hottest.line) == ("one.c", 2)
