"""Records of two builds of a program are compared: their call paths match by names."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from hosts import REPOSITORY, Host
from running import C_FLAGS, compile_program, launch, work_directory

RUNS, RANKS, STEPS = 2, 2, 5


def recorded(host: Host, folder: Path, name: str, flags: list[str]) -> Path:
    """Records of a build, whose program has the same name as any other's."""
    built = compile_program(
        host.compilers["c"], ["compared.c"], f"compared-{host.name}", [*C_FLAGS, *flags]
    )
    (folder / name).mkdir()
    program = Path(shutil.copy(built, folder / name / "app"))
    records = folder / name / "records"
    for _ in range(RUNS):
        settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(records)}
        result = launch(host, RANKS, [program], True, settings)
        assert result.code == 0, result.explain()
    return records


def test_two_builds(host: Host, library: Path) -> None:
    folder = work_directory(f"compare-{host.name}")
    old, new = (
        recorded(host, folder, name, flags) for name, flags in (("old", []), ("new", ["-DMORE"]))
    )
    line = [sys.executable, "-m", "headrace", "compare", str(old), str(new), "--json"]
    done = subprocess.run(line, cwd=REPOSITORY / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # two runs are too few for another verdict
    told = json.loads(done.stdout)
    assert told["outcome"] == "too few runs" and not told["obstacles"]
    paths = {
        (one["procedure"], tuple(one["functions"])): (one["calls_before"], one["calls_after"])
        for one in told["paths"]
    }
    calls = RANKS * STEPS
    assert paths["MPI_Allreduce", ("reduce", "step", "main")] == (calls, calls)
    assert paths["MPI_Barrier", ("added", "step", "main")] == (0, calls)
    assert not told["quality"]["modules_without_names"]
    changed = {(one["kind"], one["name"]) for one in told["changes"]}
    assert {("build", "app"), ("run", "program"), ("setting", "HEADRACE_LOGPATH")} <= changed
    assert not any(kind == "version" for kind, _ in changed)
    classes = {one["name"]: one for one in told["classes"]}
    assert classes["collective"]["before_seconds"] > 0
    assert len(told["before"]["runs"]) == len(told["after"]["runs"]) == RUNS
