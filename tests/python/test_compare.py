"""What a comparison of records tells, against numbers worked out by hand."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from compare_support import run_of
from record_support import MILLISECOND, Job

from headrace.analysis.analyse import Site, analyse
from headrace.analysis.calls import Sums
from headrace.analysis.numbers import balance
from headrace.analysis.paths import Frame
from headrace.compare import comparison
from headrace.compare.changes import UNSET, Change
from headrace.compare.comparison import Check, Comparison, compare, status
from headrace.compare.names import key_of
from headrace.compare.profile import MOST_SITES, OTHER_SITES, Profile, profile, record_facts
from headrace.record.reader import read
from headrace.report.comparison_document import comparison_document
from headrace.symbols.resolver import Symbols, resolve
from headrace.symbols.tools import Line

MS = MILLISECOND
SAME, OTHER = Check("cmp a b", 0), Check("cmp a b", 1)


def profiled(job: Job, folder: Path, name: str = "a.hrc") -> Profile:
    record = read(job.write(folder, name))
    found = analyse(record, MOST_SITES)
    symbols = resolve(site.frames for site in found.sites)
    return profile(str(record.path), found, symbols, record_facts(record))


def timed(folder: Path, times: Sequence[int]) -> list[Profile]:
    return [profiled(run_of(one), folder, f"{place}.hrc") for place, one in enumerate(times)]


def test_times_by_class_are_those_of_the_average_rank(tmp_path: Path) -> None:
    before, after = profiled(run_of(1000), tmp_path), profiled(run_of(800, 40), tmp_path)
    found = compare([before], [after], 5)
    assert found.speed_up is not None and found.speed_up.median == 1.25
    assert found.classes is not None and found.procedures is not None and found.sites is not None
    rows = {name: (row.before / MS, row.after / MS) for name, row in found.classes.items()}
    assert rows == {
        "outside MPI": (940, 770),
        "in MPI": (60, 30),
        "point-to-point": (10, 10),
        "collective": (50, 20),
    }
    assert found.classes["collective"].change.median == -30 * MS
    assert list(found.procedures) == ["MPI_Barrier", "MPI_Send"]
    assert found.procedures["MPI_Send"].calls_before == 2
    assert [key[0] for key in found.sites] == ["MPI_Barrier", "MPI_Send"]
    waits = [(one.least / MS, one.most / MS) for one in found.waits if one]
    assert waits == [(50, 50), (20, 20)]


def test_a_part_that_one_group_lacks_took_no_time_there(tmp_path: Path) -> None:
    job = run_of(1000)
    node = job.nodes[0]
    node.rows["calls"] = [
        row for row in node.rows["calls"] if row["procedure"] != node.text("MPI_Send")
    ]
    found = compare([profiled(run_of(1000), tmp_path)], [profiled(job, tmp_path)], 5)
    assert found.procedures is not None and found.classes is not None
    row = found.procedures["MPI_Send"]
    assert (row.before, row.after, row.calls_after) == (10 * MS, 0, 0)
    assert found.classes["point-to-point"].after == 0


def test_the_time_of_a_run_counts_while_recording_is_off(tmp_path: Path) -> None:
    """Of 1,000 ms on both sides. After the change rank 0 did not record 200 of them, rank 1 600."""
    job = run_of(1000)
    for row, off in zip(job.nodes[0].rows["ranks"], (200, 600), strict=True):
        row["off"] = off * MS
    before, after = [profiled(run_of(1000), tmp_path)] * 4, [profiled(job, tmp_path)] * 4
    found = compare(before, after, 5)
    assert found.outcome == comparison.UNCERTAIN and found.speed_up.median == 1
    rows = {name: (row.before / MS, row.after / MS) for name, row in found.classes.items()}
    # Rank 0 sends for 20 ms; rank 1 is in the barrier for 100 ms.
    assert rows["outside MPI"] == (940, (1000 - 200 - 20 + 1000 - 600 - 100) / 2)
    assert rows["while recording was off"] == (0, 400)
    assert rows["in MPI"] == (60, 60)
    document = comparison_document(found, None)
    assert document["after"]["median_seconds"] == 1
    assert sum(one["after_seconds"] for one in document["classes"][:3]) == pytest.approx(1)
    never = compare(before, before, 5).classes
    assert never is not None and "while recording was off" not in never


def test_regions_match_by_name_and_leave_out_those_in_them(tmp_path: Path) -> None:
    def run(solve: int, label: str) -> Job:
        job = run_of(1000)
        for rank in range(2):
            both = {"rank": rank, "thread": 0}
            job.nodes[0].add(
                "regions", **both, region=1, id=7 + solve, label="solve", entries=3,
                time=900 * MS, own=(solve + 100 * rank) * MS,
            )  # fmt: skip
            job.nodes[0].add(
                "regions", **both, region=2, id=4, label=label, entries=1, time=MS, own=MS
            )
        return job

    found = compare([profiled(run(400, ""), tmp_path)], [profiled(run(200, "write"), tmp_path)], 5)
    assert found.regions is not None
    rows = {
        name: (row.before / MS, row.after / MS, row.calls_before, row.calls_after)
        for name, row in found.regions.items()
    }
    assert rows == {
        "solve": (450, 250, 6, 6),
        "region 4": (1, 0, 2, 0),
        "write": (0, 1, 0, 2),
    }
    assert next(iter(found.regions)) == "solve"
    document = comparison_document(found, None)
    made = document["regions"][0]
    assert (made["name"], made["difference_seconds"], made["entries_after"]) == ("solve", -0.2, 6)


@pytest.mark.parametrize(
    ("before", "after", "outcome", "code"),
    [
        ([1000], [2000], comparison.TOO_FEW, 0),
        ([1000, 1001, 1002], [2000, 2001, 2002], comparison.TOO_FEW, 0),
        ([1000, 1001, 1002, 1003], [2000, 2001, 2002, 2003], comparison.SLOWER, 1),
        ([1000, 1001, 1002, 1003], [1041, 1042, 1043, 1044], comparison.WITHIN, 0),
        ([1000, 1001, 1002, 1003], [500, 501, 502, 503], comparison.FASTER, 0),
        ([1000, 1001, 1002, 1300], [1200, 1201, 1202, 1203], comparison.UNCERTAIN, 0),
    ],
)
def test_outcomes(
    tmp_path: Path, before: list[int], after: list[int], outcome: str, code: int
) -> None:
    found = compare(timed(tmp_path, before), timed(tmp_path, after), 5)
    assert found.outcome == outcome
    assert status(found, None) == status(found, SAME) == code
    assert status(found, OTHER) == 2


def test_the_tolerance_is_of_the_time(tmp_path: Path) -> None:
    before, after = timed(tmp_path, [1000] * 4), timed(tmp_path, [1100] * 4)
    assert compare(before, after, 9.9).outcome == comparison.SLOWER
    assert compare(before, after, 10.1).outcome == comparison.WITHIN


def refused(found: Comparison) -> bool:
    return found.speed_up is None and found.sites is None and status(found, OTHER) == 3


def test_other_ranks_and_programs_are_not_comparable(tmp_path: Path) -> None:
    one = profiled(run_of(1000), tmp_path)
    for other, why in (
        (replace(one, ranks=4), "the numbers of ranks differ: 2 before, 4 after"),
        (replace(one, programs=("app2",)), "the programs differ: app before, app2 after"),
        (replace(one, lacks=("it is cut off",)), "is not complete: it is cut off"),
    ):
        found = compare([one, one], [other], 5)
        assert refused(found) and why in found.obstacles[0]
        forced = compare([one, one], [other], 5, force=True)
        assert forced.speed_up is not None and forced.obstacles == found.obstacles
    timeless = replace(one, elapsed=0)
    assert refused(compare([timeless], [one], 5, force=True))
    assert refused(compare([one, replace(one, ranks=3)], [one], 5))


def test_what_changed(tmp_path: Path) -> None:
    before = profiled(run_of(1000), tmp_path)
    job = run_of(1000, mpi="Open MPI 5", build="cd34", threads="8", command="./app -x")
    node = job.nodes[0]
    node.rows["settings"][0].update(value=node.text("1"), origin=node.text("environment"))
    node.rows["ranks"][1]["cores"] = node.text("5")
    node.rows["ranks"][0]["program"] = node.text("/b/app")
    after = profiled(job, tmp_path)
    found = compare([before], [after], 5)
    assert not found.obstacles
    assert list(found.changes) == [
        Change("run", "command", (UNSET,), ("./app -x",)),
        Change("run", "program", ("/a/app",), ("/a/app; /b/app",)),
        Change("version", "mpi", ("MPICH 5.0.2",), ("Open MPI 5",)),
        Change("build", "app", ("ab12",), ("cd34",)),
        Change("placement", "cores", ("ranks 0 on 0; ranks 1 on 1",),
               ("ranks 0 on 0; ranks 1 on 5",)),
        Change("setting", "HEADRACE_VERIFY", ("0 (default)",), ("1 (environment)",)),
        Change("variable", "OMP_NUM_THREADS", ("4",), ("8",)),
    ]  # fmt: skip
    assert compare([before], [before], 5).changes == ()
    (mixed,) = (one for one in compare([before, after], [after], 5).changes if one.name == "mpi")
    assert mixed.varies and mixed.before == ("MPICH 5.0.2", "Open MPI 5")


def named(names: Sequence[str], build: str) -> tuple[tuple[Frame, ...], Symbols]:
    """A path through these functions, as a build has it: at addresses of its own."""
    frames = tuple(
        Frame("/a/app", build, random.Random(f"{name}{build}").randrange(1 << 40)) for name in names
    )
    lines = {frame: (Line(name, "a.c", 3),) for frame, name in zip(frames, names, strict=True)}
    return frames, Symbols(lines)


def site_key(names: Sequence[str], build: str, procedure: str = "MPI_Send"):
    frames, symbols = named(names, build)

    return key_of(Site(procedure, frames, Sums(), balance((), 0)), symbols)


def test_paths_of_two_builds_match_by_names() -> None:
    key = site_key(["step", "solve", "main", "__libc_start_call_main", "_start"], "ab")
    assert key == ("MPI_Send", ("step", "solve", "main"))
    assert key == site_key(["step.constprop.0", "solve.isra.0.cold", "main", "_start"], "cd")
    assert key == site_key(["step [clone .part.0]", "solve", "main"], "cd")
    assert key != site_key(["step", "main"], "ab")
    assert key != site_key(["step", "solve", "main"], "ab", "MPI_Recv")


def test_inlining_does_not_part_paths() -> None:
    frames, symbols = named(["step", "main"], "ab")
    symbols.lines[frames[0]] = (Line("inner"), Line("step"))

    one = Site("MPI_Send", frames, Sums(), balance((), 0))
    assert key_of(one, symbols) == site_key(["inner", "step", "main"], "cd")


def test_addresses_without_names_match_within_one_build(tmp_path: Path) -> None:
    runs = [profiled(run_of(1000, build=build), tmp_path) for build in ("ab12", "ab12", "cd34")]
    keys = [set(one.sites) for one in runs]
    assert keys[0] == keys[1] and not keys[0] & keys[2]
    assert ("MPI_Send", ("app+0x100 (ab12)",)) in keys[0]
    assert runs[0].problems == {"/a/app": "it is not on this machine"}


def test_paths_beyond_the_most_are_one_part(tmp_path: Path) -> None:
    job = run_of(1000)
    node = job.nodes[0]
    for place in range(MOST_SITES):
        path = node.add("paths", module=0, offset=0x1000 + place)
        node.call(0, "MPI_Send", 0, path=path, calls=1, time=MS // 10)
    made = profiled(job, tmp_path)
    assert len(made.sites) == MOST_SITES + 1
    assert made.sites[OTHER_SITES].calls == 2
    total = sum(one.time for one in made.sites.values())
    assert total == pytest.approx(sum(one.time for one in made.procedures.values()))
