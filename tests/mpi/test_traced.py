"""Functions that are traced: what the record says of them, against what the program counted."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hosts import Host
from measuring import measuring
from running import compile_program, launch, work_directory

from headrace.record.reader import read

WAYS = {"slots": 0, "hooks": 1, "nops": 2, "prologue": 3}
CODE = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC"]
# With frame pointers, so that functions begin with instructions that may be moved.
LIBRARY_FLAGS = {
    "slots": ["-O2"],
    # Without -fexceptions the hooks do not tell that an exception has left a function.
    "hooks": ["-O1", "-finstrument-functions", "-fexceptions"],
    "nops": ["-O2", "-fpatchable-function-entry=5"],
    "prologue": ["-O0", "-fno-omit-frame-pointer", "-fcf-protection=none"],
}
STACK = 1024
CALLED = re.compile(r"^calls (\S+) (\d+)$", re.MULTILINE)
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(\S*)\s*(.*)$")


@dataclass
class Traced:
    """What a record has of one function: sums over its rows."""

    way: int
    calls: int = 0
    unended: int = 0
    time: int = 0
    own: int = 0
    mpi: int = 0
    moved: int = 0


def made_library(way: str) -> Path:
    flags = [*CODE, *LIBRARY_FLAGS[way], "-shared", "-Wl,-soname,libtraced.so"]
    return compile_program(["gcc", "-lm"], ["traced_library.c"], f"libtraced-{way}.so", flags)


def program(host: Host) -> Path:
    built = made_library("slots")
    compiler = [*host.compilers["c"], f"-l:{built.name}", "-lstdc++", "-lpthread", "-lm"]
    flags = [*CODE, f"-L{built.parent}", "-std=gnu++20"]
    flags += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    return compile_program(compiler, ["traced.cc"], f"traced-{host.name}", flags)


def with_library(host: Host, way: str, directory: Path) -> dict[str, str]:
    """Lets the program find this one of its libraries."""
    (directory / "libtraced.so").symlink_to(made_library(way))
    others = host.environment.get("LD_LIBRARY_PATH", "")
    return {"LD_LIBRARY_PATH": f"{directory}:{others}"}


def functions_of(path: Path) -> dict[str, int]:
    """The library's own functions, and where they lie."""
    listing = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    found = (line.split() for line in listing.splitlines())
    return {one[2]: int(one[0], 16) for one in found if len(one) == 3 and one[1] == "T"}


def module_of(path: Path) -> str:
    return "path:" + str(path.resolve()).replace("%", "%25").replace(" ", "%20")


def build_id(path: Path) -> str:
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True)
    found = re.search(r"Build ID: ([0-9a-f]+)", notes.stdout)
    return found[1] if found else module_of(path)


def prologue(path: Path, name: str) -> str | None:
    """The first whole instructions of five bytes and more, if they may be moved."""
    shown = subprocess.run(
        ["objdump", "-d", "--insn-width=16", f"--disassemble={name}", path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    moved = ""
    for line in shown.splitlines():
        found = INSTRUCTION.match(line)
        if found is None or len(moved) >= 10:
            continue
        if found[3].startswith(("j", "call", "ret", "endbr", "nop")) or "rip" in found[4]:
            return None
        moved += found[2].replace(" ", "")
    return moved if len(moved) >= 10 else None


def plan_of(way: str, names: dict[str, int]) -> list[str]:
    path = made_library(way)
    if way == "slots":
        return [f"import {name}" for name in names]
    if way == "hooks":
        return ["hooks * 0 *"]
    module = build_id(path)
    if way == "nops":
        return [f"nops {module} {at:x} 5 {STACK} {name}" for name, at in names.items()]
    moved = {name: prologue(path, name) for name in names}
    return [
        f"prologue {module} {names[name]:x} {STACK} {code} {name}"
        for name, code in moved.items()
        if code is not None
    ]


def tables_of(record: Path) -> dict[str, Traced]:
    """By name; a function that the compiler's hooks tell of has none, so by its place."""
    (node,) = read(record).nodes
    found = []
    names = zip(
        node.texts_of("functions", "name"),
        node.texts_of("functions", "refusal"),
        node["functions"].rows("way", "offset"),
        strict=True,
    )
    for name, _, (way, offset) in names:
        found.append((name or f"{offset:x}", Traced(way)))
    columns = ("calls", "unended", "time", "own", "mpi", "moved")
    for function, *values in node["traced"].rows("function", *columns):
        one = found[function][1]
        for column, value in zip(columns, values, strict=True):
            setattr(one, column, getattr(one, column) + value)
    return dict(found)


def planned(host: Host, way: str, directory: Path, names: dict[str, int]) -> dict[str, str]:
    """The settings of a run that traces functions of the library by a plan, which is written."""
    plan = directory / "plan"
    plan.write_text("".join(f"{line}\n" for line in plan_of(way, names)))
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_TRACE_PLAN": str(plan),
        "HEADRACE_QUIET": "0",
    }
    return settings | with_library(host, way, directory)


def traced_and_counted(
    output: str, directory: Path, way: str, names: dict[str, int]
) -> tuple[dict[str, Traced], Counter[str]]:
    """What the record in the directory says, and what the program printed that it counted."""
    counted: Counter[str] = Counter()
    for name, calls in CALLED.findall(output):
        counted[name] += int(calls)
    (record,) = directory.glob("*.hrc")
    traced = tables_of(record)
    if way == "hooks":
        by_place = {f"{at:x}": name for name, at in names.items()}
        traced = {by_place.get(place, place): one for place, one in traced.items()}
    if way == "prologue":
        known = {line.split()[-1] for line in plan_of(way, names)}
        assert len(known) > 10
        counted = Counter({name: calls for name, calls in counted.items() if name in known})
    return traced, counted


def run(
    host: Host, way: str, what: str, ranks: int = 1, **more: str
) -> tuple[dict[str, Traced], Counter[str], str]:
    """What the record says, what the program counted, and its output."""
    directory = work_directory(f"traced-{host.name}-{way}-{what}")
    names = functions_of(made_library(way))
    settings = planned(host, way, directory, names) | more
    if way in ("nops", "prologue"):
        settings["TRACED_WIDE"] = "1"
    result = launch(host, ranks, [program(host), what], True, settings)
    assert result.code == 0, result.explain()
    assert "wrong" not in result.out and result.out.count("ok") == ranks, result.explain()
    return *traced_and_counted(result.out, directory, way, names), result.out


def require_same(traced: dict[str, Traced], counted: Counter[str], way: str) -> None:
    for name, calls in counted.items():
        assert traced[name].calls == calls, name
        assert traced[name].way == WAYS[way]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_arguments_and_results_pass(host: Host, library, way: str, ranks: int) -> None:
    traced, counted, _ = run(host, way, "arguments", ranks)
    require_same(traced, counted, way)
    assert all(one.unended == 0 for one in traced.values())


@pytest.mark.parametrize("way", WAYS)
def test_exceptions_pass(host: Host, library, way: str) -> None:
    traced, counted, _ = run(host, way, "exceptions")
    require_same(traced, counted, way)
    # Their ends are seen, since the unwinder tells of them.
    assert traced["traced_calls_back"].unended == 0


@pytest.mark.parametrize("way", WAYS)
def test_jumps_pass(host: Host, library, way: str) -> None:
    traced, counted, _ = run(host, way, "jumps")
    require_same(traced, counted, way)
    assert traced["traced_calls_back"].unended == counted["traced_calls_back"]
    assert traced["traced_nothing"].unended == 0 if "traced_nothing" in traced else True


@pytest.mark.parametrize("stack", ["", "other"])
@pytest.mark.parametrize("way", WAYS)
def test_handlers_of_signals(host: Host, library, way: str, stack: str) -> None:
    more = {"TRACED_STACK": "1"} if stack else {}
    traced, counted, _ = run(host, way, "signals", **more)
    if "traced_pair" in traced:  # the handlers do not call it
        assert traced["traced_pair"].calls == counted["traced_pair"]


@pytest.mark.parametrize("way", WAYS)
def test_threads(host: Host, library, way: str) -> None:
    traced, counted, _ = run(host, way, "threads")
    counted["traced_recursive"] *= 10  # it calls itself
    require_same(traced, counted, way)


@pytest.mark.parametrize("way", WAYS)
def test_children_do_not_count(host: Host, library, way: str) -> None:
    traced, counted, _ = run(host, way, "children")
    counted.pop("parent", None)
    require_same(traced, counted, way)


@pytest.mark.parametrize("way", ["slots", "hooks"])
def test_functions_beyond_the_limit_are_counted_once(host: Host, library, way: str) -> None:
    directory = work_directory(f"traced-{host.name}-{way}-limit")
    names = functions_of(made_library(way))
    settings = planned(host, way, directory, names) | {"HEADRACE_TRACE_FUNCTIONS": "1"}
    result = launch(host, 1, [program(host), "threads"], True, settings)
    assert result.code == 0 and "ok" in result.out, result.explain()
    traced, counted = traced_and_counted(result.out, directory, way, names)
    assert sum(one.calls > 0 for one in traced.values()) <= 1
    (record,) = directory.glob("*.hrc")
    left_out = int(read(record).facts["trace_left_out"])
    assert max(counted.values()) > 100 > len(names) > left_out > 0


@pytest.mark.parametrize("way", WAYS)
def test_other_stacks_are_left_alone(host: Host, library, way: str) -> None:
    traced, counted, _ = run(host, way, "fibers")
    require_same(traced, counted, way)


@pytest.mark.parametrize("way", WAYS)
def test_times(host: Host, library, way: str) -> None:
    """Within what the program measured around the calls, which is a little more."""
    traced, _, out = run(host, way, "times")
    told = re.search(r"seconds (\S+) (\S+) (\S+) (\S+)", out)
    outer, inner, busy, in_mpi = map(float, told.groups())
    seen = {name: (one.time / 1e9, one.own / 1e9) for name, one in traced.items()}
    # On a busy machine the thread may have to wait between the program's clock and the recorder's.
    with measuring():
        assert seen["traced_outer"][0] == pytest.approx(outer, rel=0.05)
        assert seen["traced_busy"][0] == pytest.approx(busy, rel=0.05)
        assert seen["traced_outer"][1] == pytest.approx(outer - inner, rel=0.05, abs=0.04)
        assert traced["traced_calls_back"].mpi / 1e9 == pytest.approx(in_mpi, rel=0.1, abs=0.01)
    whole = traced["traced_calls_back"]
    assert whole.own + whole.mpi == pytest.approx(whole.time, abs=10)


@pytest.mark.parametrize("way", WAYS)
def test_small_stacks_suffice(host: Host, library, way: str) -> None:
    run(host, way, "small", HEADRACE_TRACE="math,heap,pthreads")


@pytest.mark.parametrize("way", WAYS)
def test_functions_of_the_system(host: Host, library, way: str) -> None:
    """Of a group by its library, and with errno as ever."""
    groups = "heap,stdio,sysio,system,pthreads,math"
    traced, counted, _ = run(host, way, "names", HEADRACE_TRACE=groups)
    assert traced["close"].calls >= counted.pop("close", 100)
    assert traced["malloc"].moved >= sum(range(100, 200))
    if way == "slots":  # it is asked for by its name, and belongs to no group
        assert traced["send_halo"].calls == 1
    require_same(traced, counted, way)


@pytest.mark.parametrize("way", WAYS)
def test_calls_that_were_left_hide_no_others(host: Host, library, way: str) -> None:
    traced, counted, _ = run(host, way, "left")
    require_same(traced, counted, way)
    one = traced["traced_calls_back"]
    # Nothing tells that a function with hooks was left: its call ends with the program.
    assert one.unended == (0 if way == "hooks" else 1)
    assert one.time >= 20 * 1_000_000
    assert one.time >= one.own - 1  # ns: both are rounded


def test_a_plan_of_another_build(host: Host, library) -> None:
    """Places that are no functions, or not there, are refused; the program goes on."""
    directory = work_directory(f"traced-{host.name}-wild")
    module = build_id(program(host))
    other = build_id(made_library("nops"))
    plan = directory / "plan"
    lines = [f"nops {module} 40000000 5 0 far", f"nops {module} 0 5 0 header"]
    lines += [f"prologue {other} 10 0 554889e548 data", f"nops {'ab' * 20} 10 5 0 absent"]
    lines += ["import no_such_function", "nonsense"]
    plan.write_text("".join(f"{line}\n" for line in lines))
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    settings |= {"HEADRACE_TRACE_PLAN": str(plan), "HEADRACE_QUIET": "0"}
    settings |= with_library(host, "nops", directory)
    result = launch(host, 1, [program(host), "threads"], True, settings)
    assert result.code == 0 and result.out.count("ok") == 1, result.explain()
    assert "line 6 of HEADRACE_TRACE_PLAN is ignored" in result.explain()
    (record,) = directory.glob("*.hrc")
    (node,) = read(record).nodes
    refused = dict(
        zip(node.texts_of("functions", "name"), node.texts_of("functions", "refusal"), strict=True)
    )
    assert set(refused) == {"far", "header", "data", "absent", "no_such_function"}
    assert all(refused.values())
