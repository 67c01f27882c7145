"""Remarks of compilers: those of GCC as it makes them here, those of Clang from files that it made
(tests/python/feedback), others in the form of their reports; broken ones."""

import gzip
import json
import os
import random
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from headrace.feedback import cray, gcc, intel, llvm, nvhpc
from headrace.feedback.files import GCC_RECORD, read
from headrace.feedback.remark import BadFeedback, Remark, distinct

FOLDER = Path(__file__).with_name("feedback")
KERNELS = FOLDER / "kernels.c"
TEXT = KERNELS.read_text().split("\n")
Said = set[tuple[str, int, bool]]


def line_of(text: str) -> int:
    """In kernels.c, from 1."""
    return next(number for number, line in enumerate(TEXT, 1) if text in line)


def said(remarks: Iterable[Remark]) -> Said:
    return {(one.kind, one.line, one.is_done) for one in distinct(remarks)}


def reason(remarks: Iterable[Remark], kind: str, line: int) -> str:
    (one,) = (
        one for one in distinct(remarks) if (one.kind, one.line, one.is_done) == (kind, line, False)
    )
    return one.text


ADD, CHAIN = line_of("to[i] += square"), line_of("x = x * 0.5") - 1
SINES, COLUMNS = line_of("to[i] = sin") - 1, line_of("int j = 0")
ROWS = COLUMNS + 1


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what GCC says of kernels.c, in both ways."""
    folder = tmp_path_factory.mktemp("gcc")
    flags = ["-O3", "-fsave-optimization-record", "-fopt-info-all=kernels.optinfo", "-c"]
    subprocess.run(["gcc", *flags, KERNELS], cwd=folder, check=True)
    return folder


def of_gcc(folder: Path, way: str) -> list[Remark]:
    if way == "text":
        return list(gcc.text((folder / "kernels.optinfo").open()))
    (file,) = folder.glob("*.opt-record.json.gz")
    return list(gcc.record(file.read_bytes()))


@pytest.mark.parametrize("way", ["record", "text"])
def test_gcc(compiled: Path, way: str) -> None:
    remarks = of_gcc(compiled, way)
    found = said(remarks)
    assert {("vectorised", ADD, True), ("inlined", ADD, True)} <= found
    assert {("vectorised", CHAIN, False), ("vectorised", SINES, False)} <= found
    assert {("interchanged", COLUMNS, True), ("vectorised", ROWS, True)} <= found
    assert ("unrolled", line_of("i < 4"), True) in found
    assert ("inlined", line_of("= sin"), False) in found
    assert reason(remarks, "vectorised", CHAIN)
    # The last length of vectors that is tried is no reason.
    assert way == "text" or not reason(remarks, "vectorised", SINES).startswith("no vectype")
    assert "body not available" in reason(remarks, "inlined", line_of("= sin"))
    assert not any("/" in one.text for one in remarks if one.kind == "inlined")


@pytest.mark.parametrize("form", [lambda line: line, lambda line: f"[ 5%] {line}".lstrip()])
def test_gcc_text_among_other_output(compiled: Path, form: Callable[[str], str]) -> None:
    lines = ["make: Entering directory", "kernels.c:9:1: warning: unused", "kernels.c:x: missed: y"]
    lines += ["kernels.c:99999999999: missed: couldn't vectorize loop", "missed: alone"]
    assert not list(gcc.text(map(form, lines)))
    assert said(gcc.text([*lines, *(compiled / "kernels.optinfo").open()]))


def test_fortran(tmp_path: Path) -> None:
    if subprocess.run(["which", "gfortran"], capture_output=True, check=False).returncode:
        pytest.skip("gfortran is not here")
    program = "subroutine add(a, b)\n real :: a(:), b(:)\n do i = 1, size(a)\n"
    program += "  a(i) = a(i) + b(i)\n end do\nend subroutine\n"
    (tmp_path / "add.f90").write_text(program)
    flags = ["-O3", "-fsave-optimization-record", "-c", "add.f90"]
    subprocess.run(["gfortran", *flags], cwd=tmp_path, check=True)
    found = read([tmp_path], frozenset({"add.f90"}))
    assert not found.problems
    remarks = [one for file in found.files for one in file.remarks]
    assert ("vectorised", 3, True) in {(one.kind, one.line, one.is_done) for one in remarks}
    assert {one.function for one in remarks} == {"add_"}


def test_clang() -> None:
    remarks = list(llvm.text((FOLDER / "kernels.opt.yaml").open()))
    found = said(remarks)
    assert {("vectorised", ADD, True), ("inlined", ADD, True), ("unrolled", ADD, True)} <= found
    assert ("inlined", line_of("= sin"), False) in found
    assert "used outside the loop" in reason(remarks, "vectorised", CHAIN)
    assert "not beneficial" in reason(remarks, "vectorised", ROWS)
    assert "Try compiling with -fno-math-errno" in reason(remarks, "vectorised", SINES + 1)
    assert {one.function for one in remarks} >= {"add", "chain", "sines"}


def test_clang_s_long_names() -> None:
    """LLVM breaks a place that is longer than a line."""
    remarks = list(llvm.text((FOLDER / "matrix.opt.yaml").open()))
    own = [one for one in remarks if one.file.endswith("/matrix.cc")]
    assert own and all("/" in one.file and "\n" not in one.file for one in own)
    assert ("vectorised", 15, False) in said(own)
    (loop,) = (one for one in distinct(own) if one.kind == "unrolled")
    assert (loop.line, loop.function) == (15, "_ZN6linear5traceERKNS_6MatrixIdEE")


def test_clang_s_texts() -> None:
    lines = [
        "--- !Missed",
        "Pass:            inline",
        "Name:            NoDefinition",
        "DebugLoc:        { File: 'it''s.c', Line: 3, Column: 1 }",
        "Function:        'a: b'",
        "Hotness:         30",
        "Args:",
        '  - Callee:          "a\\x41\\n\\u00e9"',
        "  - String:          ' will not be inlined into ''b'' because '",
        "  - String:          |",
        "      it is",
        "      long",
        "...",
    ]
    (one,) = llvm.text(lines)
    assert (one.file, one.line, one.function) == ("it's.c", 3, "a: b")
    assert one.text.endswith(": it is long")


@pytest.mark.parametrize(
    "text",
    [
        "--- !Passed\nPass: inline\n",
        "--- !Passed\n--- !Passed\n...\n",
        "--- !Passed\n{}\n...\n",
        "Pass: inline\n",
        "--- !Passed\nDebugLoc: { File: a,\n",
        "--- !Passed\nArgs:\n  - String: 'a\n",
        "--- !Passed\nArgs:\n  - String: |\n      a",
    ],
)
def test_broken_yaml(text: str) -> None:
    with pytest.raises(BadFeedback):
        list(llvm.text(text.split("\n")))


INTEL = """Begin optimization report for: transform(int, double *)

    Report from: Vector optimizations [vec]

LOOP BEGIN at src/transform.c(20,3)
   remark #15541: outer loop was not auto-vectorized: consider using SIMD directive

   LOOP BEGIN at src/transform.c(21,5)
   <Peeled loop for vectorization>
      remark #15335: loop was not vectorized: vectorization possible but seems inefficient
   LOOP END

   LOOP BEGIN at src/transform.c(21,5) inlined into src/transform.c(60,3)
      remark #15305: vectorization support: vector length 4
      remark #15300: LOOP WAS VECTORIZED
   LOOP END

   LOOP BEGIN at src/transform.c(30,5)
      remark #15344: loop was not vectorized: vector dependence prevents vectorization
      remark #15346: vector dependence: assumed FLOW dependence between x (31:7) and x (31:7)
   LOOP END
LOOP END
Begin optimization report for: short

LOOP BEGIN at ./src/transform.c (40, 3)
    remark #25444: Loopnest Interchanged: ( 1 2 ) --> ( 2 1 )

    LOOP BEGIN at ./src/transform.c (41, 5)
        remark #25436: Loop completely unrolled by 3
    LOOP END
LOOP END
"""


def test_intel() -> None:
    remarks = list(intel.text(INTEL.split("\n")))
    assert said(remarks) == {
        ("vectorised", 21, True),
        ("vectorised", 30, False),
        ("interchanged", 40, True),
        ("unrolled", 41, True),
    }
    assert reason(remarks, "vectorised", 30) == "vector dependence prevents vectorization"
    assert [one.function for one in remarks] == ["transform"] * 2 + ["short"] * 2


CRAY = """   62.  + iF-------------<     for (int n = 0; n < count; n++)
   63.  + iF i I-------<>>       subtract(a, b);

CC-6296 CC: VECTOR main, File = main.cpp, Line = 62
  A loop was not vectorized because it contains an inner loop
  that was.

CC-6007 CC: SCALAR main, File = main.cpp, Line = 62
  A loop was interchanged with the loop starting at line 63.

CC-3001 CC: IPA main, File = main.cpp, Line = 63, Column = 7
  The call to tiny routine "subtract" was textually inlined and flattened.

ftn-6005 ftn: SCALAR File = test.f90, Line = 7
  A loop starting at line 7 was unrolled 4 times.

ftn-6204 ftn: VECTOR ADD, File = test.f90, Line = 7
  A loop starting at line 7 was vectorized.
"""


def test_cray() -> None:
    remarks = list(cray.text(CRAY.split("\n")))
    assert [(one.file, one.line, one.kind, one.is_done) for one in remarks] == [
        ("main.cpp", 62, "vectorised", False),
        ("main.cpp", 62, "interchanged", True),
        ("main.cpp", 63, "inlined", True),
        ("test.f90", 7, "unrolled", True),
        ("test.f90", 7, "vectorised", True),
    ]
    assert remarks[0].text == "it contains an inner loop that was"
    assert [one.function for one in remarks] == ["main", "main", "main", "", "ADD"]


NVHPC = """nvc++ -O3 -Minfo=all -c src/needle.cpp -o needle.o
start(int*, int):
     14, Loop not vectorized/parallelized: contains call
     32, Generated an alternate version of the loop
         Generated vector simd code for the loop
         Loop unrolled 8 times
     38, sum(int) inlined, size=4 (inline) file src/sum.h (5)
           6, Loop not vectorized: data dependency
     68, Memory zero idiom, loop replaced by call to __c_mzero8
"needle.cpp", line 91: warning: missing return statement
     99, Loop unrolled 8 times
"""


def test_nvhpc() -> None:
    remarks = list(nvhpc.text(NVHPC.split("\n")))
    assert [(one.file, one.line, one.kind, one.is_done) for one in remarks] == [
        ("src/needle.cpp", 14, "vectorised", False),
        ("src/needle.cpp", 32, "vectorised", True),
        ("src/needle.cpp", 32, "unrolled", True),
        ("src/needle.cpp", 38, "inlined", True),
        ("src/sum.h", 6, "vectorised", False),
        ("src/needle.cpp", 68, "replaced by a library call", True),
    ]
    assert remarks[0].function == "start" and remarks[0].text == "contains call"
    (alone,) = nvhpc.text(["main:", "     14, Loop not vectorized: contains call"])
    assert (alone.file, alone.function) == ("", "main")


def test_one_that_was_done_counts() -> None:
    """Compilers make several versions of a loop, and try several widths."""
    tried = Remark("vectorised", False, "a.c", 3, "f", "why")
    assert distinct([tried, Remark("vectorised", False, "a.c", 3), tried]) == [tried]
    done = Remark("vectorised", True, "a.c", 3)
    assert distinct([tried, done]) == [done]


def test_a_folder_with_broken_files(compiled: Path, tmp_path: Path) -> None:
    (good,) = compiled.glob("*.opt-record.json.gz")
    data = good.read_bytes()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "good.opt-record.json.gz").write_bytes(data)
    bad = {
        "cut.opt-record.json.gz": data[: len(data) // 2],
        "none.opt-record.json.gz": b"no gzip",
        "empty.opt-record.json.gz": b"",
        "other.opt-record.json.gz": gzip.compress(b'{"a": 1}'),
        "nested.opt-record.json.gz": gzip.compress(b"[" * 200_000),
        "cut.opt.yaml": b"--- !Passed\nPass: inline\n",
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "build.log").write_text("nothing of interest\n")
    os.mkfifo(tmp_path / "pipe.log")
    found = read([tmp_path], frozenset({"kernels.c"}))
    assert [file.path.name for file in found.files] == ["good.opt-record.json.gz"]
    assert found.files[0].remarks
    assert len(found.problems) == len(bad) + 1
    for name in (*bad, "pipe.log"):
        (_,) = (text for text in found.problems if f"/{name}'" in text)
    assert not any(file.remarks for file in read([tmp_path], frozenset({"a.c"})).files)


def mutated(data: bytes, chance: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(chance.randrange(1, 8)):
        place = chance.randrange(len(made))
        match chance.randrange(4):
            case 0:
                made[place] = chance.randrange(256)
            case 1:
                del made[place : place + chance.randrange(1, 40)]
            case 2:
                made[place:place] = made[: chance.randrange(60)]
            case 3:
                made[place:place] = chance.choice((b"{", b"'", b'"', b"\n", b"(", b"...", b"--- !"))
        if not made:
            return b""
    return bytes(made)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_a_file_has_is_told_or_read(compiled: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    (record,) = compiled.glob("*.gz")
    whole = {
        "a.opt.yaml": (FOLDER / "matrix.opt.yaml").read_bytes(),
        "a.optrpt": INTEL.encode(),
        "a.lst": CRAY.encode(),
        "a.log": NVHPC.encode() + (compiled / "kernels.optinfo").read_bytes(),
    }
    unpacked = gzip.decompress(record.read_bytes())[:20000]
    names = frozenset({"kernels.c", "matrix.cc", "transform.c", "main.cpp", "needle.cpp"})
    for number in range(40):
        for name, data in whole.items():
            (tmp_path / f"{number}{name}").write_bytes(mutated(data, chance))
        packed = gzip.compress(mutated(unpacked, chance), 1)
        (tmp_path / f"{number}a{GCC_RECORD}").write_bytes(packed)
    found = read([tmp_path], names)
    assert found.files
    assert all(one.line >= 0 for file in found.files for one in file.remarks)


def test_a_long_text_takes_no_time_that_grows_with_its_square() -> None:
    """With such time this would not end within an hour."""
    own = {"kind": "success", "location": {"file": "a.c", "line": 3}, "function": "f"}
    records = [own | {"message": ["inlined " * 300_000]}, own | {"message": ["Inlining a to b "]}]
    found = list(gcc.record(gzip.compress(json.dumps([{}, [], records]).encode())))
    assert [one.kind for one in found] == ["inlined"]


def test_places_of_llvm_take_no_time_that_grows_with_a_power() -> None:
    """With such time this would not end within a day."""
    blank = " " * 60_000
    for place in (f"{{ File: {blank}}}", f"{{ File: a{blank}b, Line{blank}}}", f"{{{blank}File}}"):
        lines = ["--- !Passed", "Pass: inline", f"DebugLoc: {place}", "..."]
        assert not list(llvm.text(lines))
    with pytest.raises(BadFeedback):
        list(llvm.text(["--- !Passed", 'Function: "a', *(["b"] * 60_000)]))


def test_records_of_odd_shapes() -> None:
    """Whatever stands where a record is expected: nothing of it is used, and nothing breaks."""
    place = {"file": "a.c", "line": 1}
    odd: list[object] = [1, None, {}, {"kind": "success"}, {"kind": "success", "location": 7}]
    odd += [{"kind": "success", "location": place, "message": "x"}]
    odd += [
        {"kind": "success", "location": {"file": 1, "line": -2}, "message": ["loop vectorized"]}
    ]
    odd += [{"kind": "success", "location": place, "message": [None, {"x": 1}], "children": 3}]
    packed = gzip.compress(json.dumps([{}, [], odd]).encode())
    assert not list(gcc.record(packed))


def test_a_file_that_is_named_must_have_remarks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "b.xyz").write_text(NVHPC)
    found = read([tmp_path / "a.txt", tmp_path / "b.xyz"], frozenset({"needle.cpp"}))
    assert len(found.problems) == 1 and "a.txt" in found.problems[0]
    assert [len(file.remarks) for file in found.files] == [5]
