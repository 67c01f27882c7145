"""The file that says what to trace: proposed from samples, edited by people, made a plan."""

import os
import re
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
from record_support import MILLISECOND, Job
from trace_support import compiled, entry_of

from headrace.errors import HeadraceError
from headrace.profile.apa import plan as plans
from headrace.profile.apa.plan import plan_of
from headrace.profile.apa.proposal import Proposal, propose
from headrace.profile.apa.reading import read
from headrace.profile.apa.values import Apa, Entry
from headrace.profile.apa.writing import names, place_for, text_of, write
from headrace.profile.groups import group_of, problem_of
from headrace.profile.samples import Samples
from headrace.record.reader import read as read_record

MS = MILLISECOND
AGAIN = "headrace profile --apa app.apa.toml -n 2 ./app"
LIBM = Path("/lib/x86_64-linux-gnu/libm.so.6")


def build_id(program: Path) -> str:
    told = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
    return told.stdout.split("Build ID: ")[1].split()[0]


def sampled(folder: Path, program: Path, build: str | None = None, **samples: int) -> Path:
    """A record with so many samples of 10 ms in each function of the program."""
    job = Job(facts={"ranks": "1", "nodes": "1", "command": "./app"})
    node = job.node()
    node.add("ranks", rank=0, host="n0", state=1, run=1000 * MS, threads=1, program=program.name)
    node.add("sampling", rank=0, thread=0, name="app", source=1, period=10 * MS)
    place = build_id(program) if build is None else build
    module = node.add("modules", file=str(program), build_id=place)
    for name, count in samples.items():
        path = node.add("paths", module=module, offset=entry_of(program, name) + 2)
        node.add("samples", rank=0, thread=0, path=path, samples=count, time=10 * MS * count)
    return job.write(folder)


def proposal_of(file: Path) -> Proposal:
    record = read_record(file)
    made = propose(record, Samples(record))
    assert made is not None
    return made


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return compiled(tmp_path, "-g", "-fpatchable-function-entry=5")


def test_functions_are_proposed_by_their_share(tmp_path: Path, program: Path) -> None:
    file = sampled(tmp_path, program, many=60, plain=30, tiny=9, looped=1, again=0)
    made = proposal_of(file)
    rows = {one.name: one for one in made.apa.functions}
    assert [one.name for one in made.apa.functions] == ["many", "plain", "tiny", "looped", "again"]
    assert (rows["many"].share, rows["plain"].share) == (60.0, 30.0)
    assert [one.name for one in made.apa.functions if one.trace] == ["many", "plain"]
    assert rows["many"].way == "nops"
    assert "64 bytes" in rows["tiny"].reason and "1 %" in rows["again"].reason
    assert made.apa.program == str(program)


def test_the_file_can_be_read_back(tmp_path: Path, program: Path) -> None:
    made = proposal_of(sampled(tmp_path, program, many=60, plain=30, tiny=9, looped=1))
    path = tmp_path / "app.apa.toml"
    write(path, text_of(made, 100, "app.hrc", AGAIN))
    apa, told = read(path)
    assert told == []
    assert (apa.program, apa.groups, apa.prologues) == (str(program), (), False)
    for before, after in zip(made.apa.functions, apa.functions, strict=True):
        assert (before.name, before.module, before.share, before.size, before.trace) == (
            *(after.name, after.module, after.share, after.size, after.trace),
        )
    assert AGAIN in path.read_text()
    plan = plan_of(apa)
    assert re.findall(r"^nops .* (\w+)$", plan.text, re.MULTILINE) == ["many", "plain"]
    assert f" {entry_of(program, 'many'):x} 5 " in plan.text


def test_what_was_edited_is_kept(tmp_path: Path, program: Path) -> None:
    text = text_of(proposal_of(sampled(tmp_path, program, many=1)), 1, "app.hrc", AGAIN)
    first, second = tmp_path / "app.apa.toml", tmp_path / "app.2.apa.toml"
    assert place_for(tmp_path, str(program)) == (first, False)
    write(first, text)
    assert place_for(tmp_path, str(program)) == (first, False)  # as it was written
    edited = first.read_text().replace("trace = true", "trace = false")
    first.write_text(edited)
    assert place_for(tmp_path, str(program)) == (second, True)
    second.symlink_to(tmp_path / "elsewhere")
    assert place_for(tmp_path, str(program))[0].name == "app.3.apa.toml"
    assert first.read_text() == edited


@pytest.mark.parametrize("name", ["../x", "a b\n", ".", "", "x" * 500, "[red]y[/]", "é"])
def test_names_of_files_are_plain(name: str) -> None:
    made = next(iter(names(f"/opt/{name}")))
    assert re.fullmatch(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]*\.apa\.toml", made)
    assert len(made) < 130


HOSTILE = 'x"\\\n[trace]\nprologues = true\n# <script>[bold]\x7f\x00\udc80'


def test_hostile_names_stay_texts(tmp_path: Path) -> None:
    """In values and in comments."""
    entry = Entry(HOSTILE, HOSTILE, 1.0, 2, "none", False, HOSTILE)
    apa = Apa(HOSTILE, (), functions=(entry,))
    path = tmp_path / "app.apa.toml"
    write(path, text_of(Proposal(apa, 0, 0.0, 0.0), 1, HOSTILE, HOSTILE))
    document = tomllib.loads(path.read_text())
    expected = HOSTILE.replace("\udc80", "?")
    assert document["program"] == expected
    assert document["trace"] == {"groups": [], "hooks": False, "prologues": False}
    (row,) = document["functions"]
    assert (row["name"], row["module"], row["trace"]) == (expected, expected, False)
    assert read(path)[0].functions[0].name == expected


def test_a_hostile_name_is_in_no_plan(tmp_path: Path, program: Path) -> None:
    for name in ("a b", "x\nhooks * 0 *", "é"):
        entries = (Entry(name, str(program)), Entry(name, "", way="import"))
        plan = plan_of(Apa(str(program), functions=entries))
        assert plan.is_empty and len(plan.refused) == 2
        lines = [line for line in plan.text.splitlines() if not line.startswith("#")]
        assert [line.split(" ")[0] for line in lines] == ["refused"] * 2
        assert all(len(line.split(" ")) == 4 and line.isascii() for line in lines)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("program = ", "no TOML"),
        ("other = 1", "other is unknown"),
        ("program = 3", "program is 3"),
        ("[trace]\ngroups = 'math'", "trace.groups is 'math'"),
        ("[trace]\ngroups = [1]", "trace.groups has 1"),
        ("[trace]\nprologues = 1", "trace.prologues is 1"),
        ("[trace]\nprologs = true", "trace.prologs is unknown"),
        ("functions = 1", "functions is 1"),
        ("functions = [1]", "functions[0] is 1"),
        ("\n[[functions]]\nway = 'nops'", "line 2 has no name"),
        ("[[functions]]\nname = 'f'\nway = 'magic'", "the way 'magic'"),
        ("[[functions]]\nname = 'f'\ntrace = 'yes'", "functions, line 1.trace is 'yes'"),
        ("[[functions]]\nname = 'f'\nshare = true", "share is True"),
        ("[[functions]]\nname = ['f']", "name is ['f']"),
        ("x = [" * 5000, "no TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "app.apa.toml"
    path.write_text(text)
    with pytest.raises(HeadraceError) as told:
        read(path)
    line = str(told.value)
    assert why in line and str(path) in line and "\n" not in line and len(line) < 600


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"#" * ((4 << 20) + 1))
    for name in ("absent", "binary", "pipe", "large", "."):
        with pytest.raises(HeadraceError):
            read(tmp_path / name)
    (tmp_path / "many").write_text("[[functions]]\nname = 'f'\n" * 10_001)
    with pytest.raises(HeadraceError, match="10,001 functions"):
        read(tmp_path / "many")


def test_unknown_groups_are_told_and_the_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "app.apa.toml"
    path.write_text('[trace]\ngroups = ["Math", "mpi", "nonsense\\n", "io"]\n')
    apa, told = read(path)
    assert apa.groups == ("math", "io")
    assert "mpi" in told[0] and "the recorder counts these" in told[0]
    assert "no such group" in told[1] and "fftw" in told[1] and "\n" not in told[1]


def test_functions_that_do_not_exist_are_told_and_the_others_planned(program: Path) -> None:
    entries = (
        Entry("absent", str(program)),
        Entry("many", str(program)),
        Entry("plain", "/nowhere/libx.so"),
        Entry("left", str(program), trace=False),
        Entry("plain", str(program), way="hooks"),
        Entry("tiny"),
        Entry("dgemm_", "/nowhere/libx.so", way="import"),
    )
    plan = plan_of(Apa(str(program), functions=entries))
    assert re.findall(r"^(?!refused).* (\w+)$", plan.text, re.MULTILINE) == [
        "many",
        "tiny",
        "dgemm_",
    ]
    reasons = {one.name: one.reason for one in plan.refused}
    assert "no function of this name" in reasons["absent"]
    assert f"refused {program} absent there%20is%20no%20function" in plan.text
    assert plan.text.count("\nrefused ") == len(plan.refused)
    told = [one.reason for one in plan.refused if one.name == "plain"]
    assert "not on this machine" in " ".join(told) and "-finstrument-functions" in " ".join(told)


def test_all_hooks() -> None:
    assert "hooks * 0 *\n" in plan_of(Apa("", hooks=True)).text


def test_a_plan_that_is_too_long() -> None:
    entries = tuple(
        Entry(f"function_number_{one}" * 20, "/nowhere/x.so", way="import") for one in range(3000)
    )
    with pytest.raises(HeadraceError, match=r"3,000 functions.*1,048,576.*trace = false"):
        plan_of(Apa("", functions=entries))


def test_the_plan_s_file_is_its_owner_s(tmp_path: Path) -> None:
    plan = plan_of(Apa("", hooks=True))
    path = plans.write(tmp_path / "new", "app", plan)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700  # others may write beside it
    other = plans.write(tmp_path / "new", "app", plan)
    plans.remove(path)
    assert list((tmp_path / "new").iterdir()) == [other.parent]
    (tmp_path / "file").write_text("")
    with pytest.raises(HeadraceError, match="cannot be written"):
        plans.write(tmp_path / "file", "app", plan)


def test_another_build_has_no_proposal(tmp_path: Path, program: Path) -> None:
    made = proposal_of(sampled(tmp_path, program, build="ab12", many=10))
    assert made.apa.functions == () and made.unnamed == 100.0
    assert "100.0 % of the samples" in " ".join(text_of(made, 1, "", AGAIN).split())


def test_groups_are_proposed(tmp_path: Path, program: Path) -> None:
    """math, since its library was sampled; io, since the accesses took time; not heap."""
    if not LIBM.exists():
        pytest.skip("no libm where Debian has it")
    job = Job(facts={"ranks": "1", "nodes": "1"})
    node = job.node()
    node.add("ranks", rank=0, host="n0", state=1, run=1000 * MS, threads=1, program="app")
    node.add("sampling", rank=0, thread=0, name="app", source=1, period=10 * MS)
    own = node.add("modules", file=str(program), build_id=build_id(program))
    libm = node.add("modules", file=str(LIBM), build_id=build_id(LIBM))
    caller = node.add("paths", module=own, offset=entry_of(program, "plain") + 9)
    told = subprocess.run(["nm", "-D", LIBM], capture_output=True, text=True, check=True).stdout
    sin = next(line.split()[0] for line in told.splitlines() if " sin@" in line)
    path = node.add("paths", caller=caller, module=libm, offset=int(sin, 16) + 3)
    node.add("samples", rank=0, thread=0, path=path, samples=5, time=50 * MS)
    node.add("accesses", rank=0, file="/x", read_time=20 * MS, write_time=15 * MS)
    made = proposal_of(job.write(tmp_path))
    assert made.apa.groups == ("math", "io")
    (row,) = made.apa.functions
    assert row.trace is False and "group math" in row.reason and row.way == "import"


def test_which_group_has_a_function() -> None:
    assert group_of("sin", "libm.so.6") == "math"
    assert group_of("dgemm_", "libopenblas.so.0") == "blas"
    assert group_of("dgetrf_", "libopenblas.so.0") == "lapack"
    assert group_of("dgetrf_", "app") == ""
    assert group_of("GOMP_parallel", "libgomp.so.1") == "omp"
    assert group_of("fread", "libc.so.6") == "stdio"
    assert group_of("work", "app") == ""
    assert problem_of("io") is None and problem_of("mpi") is not None
