"""Rules on samples, on made records. tests/mpi/test_profile_advice.py has programs."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import ROOT
from record_support import MILLISECOND, Job, NodeTables
from rich.console import Console
from schema_support import check

from headrace.advice.judging import Judgement
from headrace.commands._findings import Job as Read
from headrace.commands._findings import job_of, judged
from headrace.report.document import document
from headrace.report.page import page
from headrace.report.terminal import show
from headrace.symbols.resolver import Symbols

SCHEMA = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())
MS = MILLISECOND
RUN = 1000 * MS
PROGRAM, LIBC, LIBM, MPI = "/opt/app", "/lib/libc.so.6", "/lib/libm.so.6", "/opt/lib/libmpi.so.12"
PYTHON = "/usr/bin/python3.11"
Frame = tuple[str, str]  # a function, its file
EVALUATES, STEP = ("_PyEval_EvalFrameDefault", PYTHON), ("step", "/opt/solver.py")
MAIN, WORK = ("main", PROGRAM), ("work", PROGRAM)
RULES = {
    *("unoptimised-code", "unvectorised-loop", "uneven-function", "allocation", "locks"),
    *("kernel-time", "python-interpreter", "one-thread", "scalar-mathematics", "spinning-in-mpi"),
    "reference-blas",
}


def path(node: NodeTables, frames: tuple[Frame, ...]) -> int:
    """The outermost first; as frames that need no file to be looked into."""
    place = -1
    for function, file in frames:
        build_id = "" if file.endswith(".py") else "c0de"
        module = node.add("modules", file=file, build_id=build_id)
        place = node.add("paths", caller=place, module=module, function=function, line=1)
    return place


class Made:
    """A job whose ranks are on one node and spend what is given."""

    def __init__(self, ranks: int = 2, cores: str = "", **of_rank: int) -> None:
        self.job = Job(facts={"ranks": str(ranks), "nodes": "1", "command": "./app"})
        self.node = self.job.node()
        self.ranks = ranks
        self._threads: dict[tuple[int, int], dict[str, int]] = {}
        for rank in range(ranks):
            given = {"run": RUN, "state": 1, "threads": 1, "cpu_user": RUN} | of_rank
            self.node.add("ranks", rank=rank, host="n0", cores=cores or f"{rank}", **given)

    def spend(
        self, times: tuple[int, ...], *frames: Frame, thread: int = 0, source: int = 1, cpu: int = 0
    ) -> "Made":
        """times: ms by rank. cpu: ms that a thread works beyond its samples."""
        for rank, time in enumerate(times):
            place = path(self.node, frames)
            self.sample(rank, thread, place, time)
            own = self._threads.setdefault((rank, thread), {"time": 0, "source": source, "cpu": 0})
            own["time"] += time * MS
            own["cpu"] += (time + cpu) * MS
        return self

    def sample(self, rank: int, thread: int, place: int, time: int) -> None:
        self.node.add("samples", rank=rank, thread=thread, path=place, samples=time, time=time * MS)

    def call(self, procedure: str, kind: int, times: tuple[int, ...]) -> "Made":
        for rank, time in enumerate(times):
            self.node.call(rank, procedure, kind, calls=10, time=time * MS, greatest=time * MS)
        return self

    def read(self, folder: Path, *feedback: Path) -> Read:
        for (rank, thread), own in self._threads.items():
            self.node.add(
                "sampling", rank=rank, thread=thread, name="app", source=own["source"],
                period=MS, samples=own["time"] // MS, time=own["time"], cpu=own["cpu"],
            )  # fmt: skip
        return job_of([self.job.write(folder)], feedback)


def advised(made: Made, folder: Path) -> tuple[set[str], Judgement, Read]:
    found = made.read(folder)
    judgement = judged(found.findings)
    return {one.rule.id for one in judgement.advice} & RULES, judgement, found


def working(times: tuple[int, ...] = (900, 900)) -> Made:
    return Made().spend(times, MAIN, WORK)


def in_library(function: str, file: str, most: int = 300) -> Made:
    made = Made().spend((900 - most,) * 2, MAIN, WORK)
    return made.spend((most, most), MAIN, WORK, (function, file))


def waiting(in_mpi: int) -> Made:
    """Half a second in a barrier, of which the CPU is busy for in_mpi ms."""
    made = Made().spend((400, 400), MAIN, WORK)
    made.spend((in_mpi,) * 2, MAIN, ("MPI_Barrier", MPI), ("poll", "/opt/lib/libucp.so.0"))
    return made.call("MPI_Barrier", 1, (500, 500))


def many_cores(threads: int) -> Made:
    made = Made(1, "0-3")
    for thread in range(threads):
        made.spend((900,), MAIN, WORK, thread=thread)
    return made


Maker = Callable[[], Made]
CASES: dict[str, tuple[list[Maker], list[Maker]]] = {
    "uneven-function": (
        [lambda: working((900, 300))],
        [working, lambda: working((900, 880)), lambda: Made(1).spend((900,), MAIN, WORK)],
    ),
    "allocation": (
        [
            lambda: in_library("malloc", LIBC),
            lambda: in_library("operator new(unsigned long)", "/lib/libstdc++.so.6"),
            lambda: in_library("je_malloc", PROGRAM),
        ],
        [
            lambda: in_library("malloc", LIBC, 30),
            lambda: in_library("memcpy", LIBC),
            lambda: in_library("mallocator", PROGRAM),
            lambda: Made().spend((900, 900), MAIN, ("MPI_Send", MPI), ("malloc", LIBC)),
        ],
    ),
    "locks": (
        [
            lambda: in_library("pthread_mutex_lock", LIBC),
            lambda: in_library("GOMP_critical_start", "/lib/libgomp.so.1"),
        ],
        [
            lambda: in_library("pthread_mutex_lock", LIBC, 30),
            lambda: in_library("locks_of_mine", PROGRAM),
        ],
    ),
    "scalar-mathematics": (
        [lambda: in_library("__sin_fma", LIBM)],
        [
            lambda: in_library("__sin_fma", LIBM, 50),
            lambda: in_library("_ZGVbN2v_sin", "/lib/libmvec.so.1"),
        ],
    ),
    "reference-blas": (
        [
            lambda: in_library("dgemm_", "/lib/libblas.so.3"),
            lambda: in_library("ztrsv_", PROGRAM),
        ],
        [
            lambda: in_library("dgemm_", "/lib/libblas.so.3", 30),
            lambda: in_library("dgemm_kernel_HASWELL", "/lib/libopenblas.so.0"),
            lambda: Made().spend((900, 900), MAIN, ("dgemm_", PROGRAM), ("inner", PROGRAM)),
            lambda: in_library("dgemmx_", PROGRAM),
        ],
    ),
    "python-interpreter": (
        [
            lambda: Made().spend((900, 900), EVALUATES),
            lambda: Made().spend((900, 900), ("_PyObject_Malloc", PYTHON), ("malloc", LIBC)),
            lambda: Made().spend((900, 900), EVALUATES, STEP),
            lambda: Made().spend((900, 900), STEP, ("malloc", LIBC)),
        ],
        [
            working,
            lambda: Made().spend((900, 900), STEP, EVALUATES, WORK),
            lambda: Made().spend((900, 900), EVALUATES, WORK),
        ],
    ),
    "kernel-time": (
        [
            lambda: Made(cpu_system=400 * MS).spend((900, 900), MAIN, WORK),
            lambda: Made(cpu_system=400 * MS).spend((500, 500), MAIN, WORK, source=0, cpu=400),
        ],
        [
            working,
            lambda: Made(cpu_system=50 * MS).spend((900, 900), MAIN, WORK),
            # All of it may be of the start, or of waiting in MPI.
            lambda: Made(cpu_system=400 * MS, init=400 * MS).spend((900, 900), MAIN, WORK),
            lambda: (
                Made(cpu_system=400 * MS)
                .spend((500, 500), MAIN, WORK)
                .call("MPI_Barrier", 1, (400, 400))
            ),
            lambda: Made(cpu_system=400 * MS).spend((900, 900), MAIN, WORK, source=0),
        ],
    ),
    "one-thread": (
        [lambda: many_cores(1)],
        [lambda: many_cores(2), working, lambda: Made(1, "0").spend((900,), MAIN, WORK)],
    ),
    "spinning-in-mpi": (
        [lambda: waiting(450)],
        [working, lambda: waiting(50)],
    ),
}


@pytest.mark.parametrize("rule", CASES)
def test_records_that_trigger_it(rule: str, tmp_path: Path) -> None:
    for make in CASES[rule][0]:
        found, judgement, read = advised(make(), tmp_path)
        assert rule in found, judgement
        (one,) = (own for own in judgement.advice if own.rule.id == rule)
        limit = read.findings.metrics[f"{one.rule.cost}_greatest_seconds"]
        if rule == "spinning-in-mpi":  # what is not CPU time of the waiting may end with it, too
            limit = RUN / 1e9
        assert one.upper is not None and one.lower is not None and limit is not None
        assert 0 <= one.lower <= one.upper <= limit <= RUN / 1e9
        assert one.evidence and len(one.evidence) == len(one.rule.evidence)


@pytest.mark.parametrize("rule", CASES)
def test_records_that_do_not(rule: str, tmp_path: Path) -> None:
    for make in CASES[rule][1]:
        found, judgement, _ = advised(make(), tmp_path)
        assert rule not in found
        assert rule not in {one.rule.id for one in judgement.unjudged}


def test_a_run_without_samples_is_not_judged(tmp_path: Path) -> None:
    found, judgement, _ = advised(Made(), tmp_path)
    assert not found
    unjudged = {one.rule.id: one.reasons for one in judgement.unjudged}
    assert unjudged.keys() >= RULES
    assert all("not sampled" in unjudged[rule][0] for rule in RULES)


def test_the_places_of_a_cost(tmp_path: Path) -> None:
    """Who calls it is to be changed, not the library."""
    _, _, read = advised(in_library("malloc", LIBC), tmp_path)
    assert read.findings.spots["allocation"] == ("work, 33.3% of the samples",)
    assert read.findings.spots["uneven"] == ()
    _, _, read = advised(working((900, 300)), tmp_path)
    assert read.findings.spots["uneven"] == ("work: rank 0 0.90 s, rank 1 0.30 s",)


def test_the_greatest_thread_of_a_rank_counts(tmp_path: Path) -> None:
    made = Made(1)
    for thread, time in enumerate((100, 300, 200)):
        made.spend((time,), MAIN, WORK, ("malloc", LIBC), thread=thread)
    metrics = made.read(tmp_path).findings.metrics
    assert metrics["allocation_greatest_seconds"] == pytest.approx(0.3)
    assert metrics["allocation_share"] == pytest.approx(0.3)
    assert metrics["busy_threads_ratio"] == pytest.approx(2.0)


def test_bounds_by_hand(tmp_path: Path) -> None:
    """Rank 1 ends without malloc after 0.9 s, so no more than 0.1 s are gained; but if rank 0 waits
    for nobody, what it gains is no use."""
    made = Made().spend((300, 100), MAIN, WORK, ("malloc", LIBC))
    metrics = made.read(tmp_path).findings.metrics
    assert metrics["allocation_bound_upper_seconds"] == pytest.approx(0.1)
    assert metrics["allocation_bound_lower_seconds"] == pytest.approx(0.1)
    assert metrics["allocation_greatest_seconds"] == pytest.approx(0.3)


def test_time_without_a_core_lengthens_what_is_gained(tmp_path: Path) -> None:
    """Others have had the core for 0.4 s: of 0.6 s of work half was malloc, so 0.5 s may end with
    it."""
    made = Made(1, cpu_user=600 * MS).spend((300,), MAIN, WORK)
    made.spend((300,), MAIN, WORK, ("malloc", LIBC))
    metrics = made.read(tmp_path).findings.metrics
    assert metrics["allocation_bound_upper_seconds"] == pytest.approx(0.5)
    assert metrics["allocation_bound_lower_seconds"] == pytest.approx(0.3)
    assert metrics["uneven_bound_upper_seconds"] == pytest.approx(0.0)


SOURCE = """double numbers[512];
__attribute__((noinline)) double outer(int n) {
  double x = 1;
  for (int i = 0; i < n; i++) {
    x = x * 0.5 + numbers[i & 511];
  }
  return x;
}
int main(int c, char** v) { (void)v; return outer(c) > 0; }
"""


class Program:
    """One that GCC makes, and the address in it at which it is sampled."""

    def __init__(self, folder: Path, *flags: str) -> None:
        folder.mkdir()
        (folder / "one.c").write_text(SOURCE)
        self.folder, self.file = folder, folder / "one"
        line = ["gcc", *flags, "-Wl,--build-id", "-fsave-optimization-record", "one.c", "-o", "one"]
        subprocess.run(line, cwd=folder, check=True)
        self.build_id = self._told("readelf", "-n", "Build ID: ")
        code = self._output("objdump", "-d", "-l" if "-g" in flags else "-d")
        body = code.partition("<outer>:")[2].split("\n\n")[0]
        places = [text for text in body.split("\n") if text.startswith("  ")]
        loop = [text for text in places if "mulsd" in text] or places
        self.address = int(loop[0].partition(":")[0], 16)

    def _output(self, *words: str) -> str:
        done = subprocess.run([*words, self.file], capture_output=True, text=True, check=True)
        return done.stdout

    def _told(self, tool: str, option: str, before: str) -> str:
        return self._output(tool, option).split(before)[1].split()[0]

    def sampled(self) -> Made:
        made = Made(1)
        module = made.node.add("modules", file=str(self.file), build_id=self.build_id)
        place = made.node.add("paths", caller=-1, module=module, offset=self.address + 1)
        made.spend((100,), MAIN, WORK)
        made.sample(0, 0, place, 800)
        return made


@pytest.mark.parametrize(
    ("flags", "is_said"),
    [(["-g", "-O0"], True), (["-g"], True), (["-g", "-O0", "-O2"], False), (["-g", "-Og"], False)],
)
def test_code_without_optimisation(tmp_path: Path, flags: list[str], is_said: bool) -> None:
    found, judgement, read = advised(Program(tmp_path / "src", *flags).sampled(), tmp_path)
    assert ("unoptimised-code" in found) == is_said
    assert "unoptimised-code" not in {one.rule.id for one in judgement.unjudged}
    if is_said:
        assert read.findings.spots["unoptimised"][0].startswith("outer, ")
        assert read.findings.metrics["unoptimised_bound_upper_seconds"] == pytest.approx(0.8)


def test_without_debugging_information_it_is_not_judged(tmp_path: Path) -> None:
    found, judgement, _ = advised(Program(tmp_path / "src", "-O0").sampled(), tmp_path)
    assert "unoptimised-code" not in found
    assert "unoptimised-code" in {one.rule.id for one in judgement.unjudged}


def test_a_loop_that_was_not_vectorised(tmp_path: Path) -> None:
    program = Program(tmp_path / "src", "-g", "-O3")
    read = program.sampled().read(tmp_path, program.folder)
    judgement = judged(read.findings)
    assert "unvectorised-loop" in {one.rule.id for one in judgement.advice}
    assert read.findings.metrics["unvectorised_bound_upper_seconds"] == pytest.approx(0.8)
    assert read.listing is not None and not read.listing.problems
    (file,) = read.listing.files
    (begin, body) = (one for one in file.lines if one.line in (4, 5))
    assert (begin.marks, begin.source) == ("v", "  for (int i = 0; i < n; i++) {")
    assert body.is_vectorised is False and body.no_vector
    (spot, *_) = read.findings.spots["unvectorised"]
    assert spot.startswith("outer (one.c:5): ")


def test_the_listing_in_json_text_and_page(tmp_path: Path) -> None:
    program = Program(tmp_path / "src", "-g", "-O3")
    (program.folder / "broken.opt.yaml").write_text("--- !Passed\n")
    made = program.sampled()
    (program.folder / "one.c").rename(program.folder / "<b>.c")
    read = made.read(tmp_path, program.folder)
    found, judgement = read.findings, judged(read.findings)
    told = json.loads(json.dumps(document(found, Symbols(), judgement, read.profile, read.listing)))
    check(told, SCHEMA)
    feedback = told["profile"]["feedback"]
    assert feedback["problems"] and "broken.opt.yaml" in feedback["problems"][0]
    (begin,) = (one for one in feedback["files"][0]["lines"] if one["line"] == 4)
    assert begin["remarks"][0]["done"] is False and begin["source"] is None
    out = Console(width=240)
    with out.capture() as text:
        show(out, found, Symbols(), judgement, read.profile, read.listing)
    written = page(found, Symbols(), judgement, read.profile, read.listing)
    for own in (text.get(), written):
        assert "not vectorised, because" in own and "one.c:4" in own and "broken.opt.yaml" in own


def test_remarks_of_another_build_are_told(tmp_path: Path) -> None:
    program = Program(tmp_path / "src", "-g", "-O3")
    made = program.sampled()
    (record,) = program.folder.glob("*.gz")
    os.utime(program.file, (1e9, 1e9))
    listing = made.read(tmp_path, program.folder).listing
    assert listing is not None and record.name in listing.notes[0]


def test_no_remarks_of_hot_lines(tmp_path: Path) -> None:
    program = Program(tmp_path / "src", "-g", "-O3")
    (tmp_path / "empty").mkdir()
    read = program.sampled().read(tmp_path, tmp_path / "empty")
    assert read.listing is not None and read.listing.read == 0
    assert "unvectorised-loop" in {one.rule.id for one in judged(read.findings).unjudged}
    out = Console(width=240)
    with out.capture() as text:
        show(out, read.findings, Symbols(), judged(read.findings), read.profile, read.listing)
    assert "no remarks were found" in text.get()
