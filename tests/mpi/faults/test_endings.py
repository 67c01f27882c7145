"""However a program ends, it ends as without the layer, and leaves nothing behind."""

from __future__ import annotations

import re
import signal
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_program, launch, work_directory
from test_fuzz import WITHOUT_CXX

from faults import table
from faults.plan import TRANSFERS, Case, Transfer
from faults.processes import MARKER, strays
from faults.test_store import run_plan

RANKS = 2
PIECE, PIECES = 1000, 400
SECONDS = 40
CXX = ["-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-pthread", *WITHOUT_CXX]


@dataclass(frozen=True)
class Ending:
    """mode: sudden_end's; goes_on: whether the program ends well by itself after it, whatever the
    plain library makes of it; fails: whether it ends with an error, so too; any_code: launchers
    give other codes from run to run; staged: ranks wait for one another in shared memory; usual:
    tried also without --deep; tries: in how many runs the job may hang until one ends."""

    mode: str
    goes_on: bool = False
    fails: bool = False
    any_code: bool = False
    staged: bool = True
    usual: bool = True
    tries: int = 1

    @property
    def name(self) -> str:
        return self.mode if self.staged else f"{self.mode}-direct"


ENDINGS = (
    Ending("abort"),
    Ending("kill"),
    Ending("kill", staged=False, usual=False),
    Ending("kill-background"),
    Ending("kill-close", staged=False),
    Ending("segv", usual=False),
    Ending("term", usual=False),
    Ending("uncaught", fails=True, usual=False),
    Ending("exit-one"),
    Ending("exit-one", staged=False, usual=False),
    Ending("quick-exit-one", usual=False),
    # MPICH 5's launcher misses the rank that calls exec in about one plain run of fifteen.
    Ending("exec-one", usual=False, tries=4),
    Ending("return", any_code=True),
    Ending("exit-background", any_code=True),
    Ending("exit-destroys", any_code=True),
    Ending("quick-exit-background", any_code=True, usual=False),
    Ending("exit-beside-thread", any_code=True),
    Ending("finalize-at-exit", goes_on=True),
    Ending("finalize-open", goes_on=True, usual=False),
    Ending("exit-after-finalize", goes_on=True, usual=False),
    Ending("fork-exit", goes_on=True),
    Ending("fork-write", goes_on=True),
    Ending("fork-wait", goes_on=True),
    Ending("fork-posix", goes_on=True, usual=False),
    Ending("fork-exec", goes_on=True),
    Ending("throws", goes_on=True),
    Ending("jumps", goes_on=True),
    Ending("unloads", goes_on=True),
    Ending("cancels", goes_on=True),
)


KILLED_IN = [(writes, transfer) for writes in (True, False) for transfer in TRANSFERS[1:3]]
KILLED_IN += [(True, TRANSFERS[5])]


def compile_ending(host: Host) -> tuple[Path, Path]:
    compiler = host.compilers["c"]
    program = compile_program(
        [*compiler, "-lstdc++"], ["sudden_end.cc"], f"sudden_end-{host.name}", ["-x", "c++", *CXX]
    )
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra"]
    return program, compile_program(compiler, ["plugin.c"], f"plugin-{host.name}.so", flags)


def run_ending(host: Host, ending: Ending, layered: bool) -> tuple[Result, list[str], Path]:
    program, plugin = compile_ending(host)
    kind = "layered" if layered else "plain"
    directory = work_directory(f"ending-{ending.name}-{kind}-{host.name}")
    marker = uuid.uuid4().hex
    path = "staged" if ending.staged else "direct"
    words = [program, ending.mode, directory, path, plugin]
    result = launch(host, RANKS, words, layered, {MARKER: marker}, timeout=SECONDS)
    return result, strays(marker), directory


def content() -> bytes:
    return b"".join(bytes([ord("a") + rank]) * PIECE for rank in range(RANKS)) * PIECES


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(one, id=one.name, marks=() if one.usual else pytest.mark.deep)
        for one in ENDINGS
    ],
)
def test_ending(host: Host, ending: Ending, library) -> None:
    compile_ending(host)
    with ThreadPoolExecutor(2) as pool:
        is_alone = ending.goes_on or ending.fails or ending.any_code
        plain_run = None if is_alone else pool.submit(run_ending, host, ending, False)
        for _ in range(ending.tries):
            result, left, directory = pool.submit(run_ending, host, ending, True).result()
            if result.code != 124:
                break
        plain = plain_run.result()[0] if plain_run else None
    problem = judge(ending, result, plain, left, directory)
    table.note(f"ends: {ending.name}", host.name, not problem)
    assert not problem, f"{problem}\n{result.explain()}"


@pytest.mark.parametrize(
    ("writes", "transfer"),
    [
        pytest.param(
            writes,
            transfer,
            id=f"{'write' if writes else 'read'}-{transfer.name}",
            marks=() if writes and transfer.how == "all" else pytest.mark.deep,
        )
        for writes, transfer in KILLED_IN
    ],
)
def test_killed_inside_the_store(host: Host, writes: bool, transfer: Transfer, library) -> None:
    """A rank is killed in its second call of the store, while it holds what others wait for."""
    directory = work_directory(f"killed-{host.name}")
    fault = f"first=1 times=1 signal={signal.SIGKILL}"
    case = Case("killed", writes, transfer, "write" if writes else "read", "", fault)
    marker = uuid.uuid4().hex
    result = run_plan(host, directory, [case], RANKS, library, {MARKER: marker}, timeout=SECONDS)
    left = strays(marker)
    good = result.code not in (0, 124) and not left and not result.litter
    row = f"ends: killed in {'write' if writes else 'read'}, {transfer.name}"
    table.note(row, host.name, good)
    assert good, f"left {left} {result.litter}\n{result.explain()}"
    assert "hangs" not in result.out, result.explain()


def judge(
    ending: Ending, result: Result, plain: Result | None, left: list[str], directory: Path
) -> str:
    if result.code == 124 and not (plain and plain.code == 124):
        return "hangs"
    if left:
        return f"leaves processes: {left}"
    crash = re.search(r"\(?signal:? \(?(7|11)\b|Segmentation|Bus error", result.out + result.err)
    if crash and ending.mode != "segv":
        return "crashes"
    if result.litter:
        return f"leaves {result.litter}"
    if ending.goes_on and (result.code != 0 or "ok" not in result.out.split()):
        return "does not go on"
    if ending.fails and result.code == 0:
        return "ends as if nothing had been wrong"
    if plain and not ending.any_code and (plain.code == 0) != (result.code == 0):
        return f"exit code {result.code}, without the layer {plain.code}"
    if names := {path.name for path in directory.iterdir()} - {"data"}:
        return f"leaves files: {names}"
    if (directory / "data").read_bytes() != content():
        return "other bytes in the file"
    for word in ("headrace:", "double free", "corrupt", "pure virtual"):
        if word in result.err:
            return f"{word} on stderr"
    return ""
