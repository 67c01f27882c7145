"""Which remarks count for which hot lines: GCC compiles, samples are made up."""

import gzip
import json
import subprocess
from pathlib import Path

from headrace.analysis.numbers import balance
from headrace.profile.loopmark import ListedLine, Listing, listing
from headrace.profile.profile import Function, HotLine, Profile, TreeNode
from headrace.profile.stacks import Place
from headrace.report.feedback_tables import feedback_tables

TEMPLATE = """template <class F> __attribute__((noinline)) double apply(double *x, long n, F f)
{
  for (long i = 1; i < n; i++)
    x[i] = f(x[i], x[i - F::back]);
  return x[n - 1];
}
struct Near { enum { back = 1 }; double operator()(double a, double b) { return a / (b + a); } };
struct Same { enum { back = 0 }; double operator()(double a, double b) { return a + b * b; } };
double near(double *x, long n) { return apply(x, n, Near()); }
double same(double *x, long n) { return apply(x, n, Same()); }
"""
LOOP = "{\n  for (long i = 1; i < n; i++)\n    x[i] = x[i - SHIFT] * 0.5 + 1;\n}\n"


def sampled(*lines: tuple[str, Path | str, int, int]) -> Profile:
    """function, file, line, seconds"""
    made = tuple(
        HotLine(Place(function, "app", "", str(file), line), time, time * 10**9)
        for function, file, line, time in lines
    )
    total = sum(one.time for one in made)
    functions = tuple(
        Function(one.place.function, "app", 1, one.time, one.time, balance([one.time], 1), {})
        for one in made
    )
    return Profile((), len(made), total, functions, made, TreeNode(""), {})


def compiled(folder: Path, *args: str) -> None:
    flags = ["-g", "-O3", "-fsave-optimization-record", "-c"]
    subprocess.run(["g++", *flags, *args], cwd=folder, check=True)


def line_of(found: Listing, file: Path | str, line: int) -> ListedLine:
    return found.by_place()[str(file), line]


def test_the_instance_of_a_template_that_ran_counts(tmp_path: Path) -> None:
    source = tmp_path / "apply.cc"
    source.write_text(TEMPLATE)
    compiled(tmp_path, source.name)
    names = {
        way: f"double apply<{way}>(double*, long, {way}) (.isra.0)" for way in ("Near", "Same")
    }
    for way, is_vectorised in (("Near", False), ("Same", True)):
        found = listing(sampled((names[way], source, 4, 3)), [tmp_path], None)
        assert line_of(found, source, 4).is_vectorised is is_vectorised
        assert ("V" in line_of(found, source, 3).marks) is is_vectorised
        assert ("v" in line_of(found, source, 3).marks) is not is_vectorised
    both = sampled((names["Near"], source, 4, 3), (names["Same"], source, 4, 1))
    assert line_of(listing(both, [tmp_path], None), source, 4).is_vectorised is False


def project(folder: Path) -> tuple[Path, Path]:
    """Two files of one name, compiled where they are, with objects in one folder."""
    sources = []
    for name, shift in (("one", "0"), ("two", "1")):
        (folder / name).mkdir(parents=True)
        (folder / "build").mkdir(exist_ok=True)
        sources.append(folder / name / "util.cc")
        text = f'extern "C" void {name}(double *x, long n)\n{LOOP}'
        sources[-1].write_text(text.replace("SHIFT", shift))
        compiled(folder / name, "util.cc", "-o", f"../build/{name}.o")
    return sources[0], sources[1]


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    one, two = project(tmp_path)
    for lines in (
        [("one", one, 4, 1), ("two", two, 4, 1)],
        [("one", one, 4, 1)],
        [("two", two, 4, 1)],
    ):
        found = listing(sampled(*lines), [tmp_path], None)
        for name, file, line, _ in lines:
            assert line_of(found, file, line).is_vectorised is (name == "one"), lines


def test_listings_name_files_of_one_name_apart(tmp_path: Path) -> None:
    one, two = project(tmp_path)
    profile = sampled(("one", one, 4, 1), ("two", two, 4, 1))
    (table,) = feedback_tables(profile, listing(profile, [tmp_path], None))
    assert {"one/util.cc:4", "two/util.cc:4"} <= {row[0] for row in table.rows}


def test_remarks_on_a_file_that_did_not_run_count_for_no_other(tmp_path: Path) -> None:
    one, two = project(tmp_path)
    (tmp_path / "build").rename(tmp_path / "objects")
    compiled(tmp_path, str(two), "-o", "two.o")
    found = listing(sampled(("two", one, 4, 1)), [tmp_path / "two.cc.opt-record.json.gz"], None)
    (record,) = tmp_path.glob("*.gz")
    assert not line_of(listing(sampled(("two", one, 4, 1)), [record], None), one, 4).remarks
    assert found.files


def test_a_header_that_objects_in_other_folders_have(tmp_path: Path) -> None:
    """Compilers tell its name as from the folder where they ran, which is above the record's."""
    header = tmp_path / "inc" / "loop.h"
    header.parent.mkdir()
    header.write_text("static inline void loop(double *x, long n)\n" + LOOP.replace("SHIFT", "0"))
    (tmp_path / "objects").mkdir()
    for name in ("here", "objects/there"):
        source = tmp_path / f"{Path(name).name}.cc"
        text = f'#include "inc/loop.h"\nvoid {source.stem}(double *x, long n) {{ loop(x, n); }}\n'
        source.write_text(text)
        compiled(tmp_path, source.name, "-o", f"{name}.o")
    found = listing(sampled(("there(double*, long)", header, 4, 1)), [tmp_path], None)
    assert line_of(found, header, 4).is_vectorised is True
    assert any("there" in one.function for one in line_of(found, header, 3).remarks)


def test_functions_may_have_any_name(tmp_path: Path) -> None:
    """As \\ud800, which is no character."""
    place = {"file": "a.c", "line": 1}
    names = ["_Z\ud800", "_Z\0", "", "f(", "\x1b[31m"]
    records = [
        {"kind": "success", "location": place, "function": name, "message": ["loop vectorized"]}
        for name in names
    ]
    data = json.dumps([{}, [], records]).encode()
    (tmp_path / "a.c.opt-record.json.gz").write_bytes(gzip.compress(data))
    profile = sampled(("f", tmp_path / "a.c", 1, 1), ("_Z\ud800", tmp_path / "a.c", 1, 1))
    found = listing(profile, [tmp_path], None)
    assert line_of(found, tmp_path / "a.c", 1).is_vectorised is True
