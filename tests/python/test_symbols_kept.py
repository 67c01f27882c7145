"""Names of functions are found by build-id in folders that the user names, where the files that ran
are gone, were built anew, or have no debugging information."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import ROOT
from record_support import Job
from test_record_analysis import rank_row
from test_record_symbols import built, frame_in

from headrace.analysis.paths import Frame
from headrace.symbols import kept as kept_files
from headrace.symbols import tools
from headrace.symbols.kept import KeptFiles
from headrace.symbols.resolver import REBUILT, resolve

OUTER = "lib::S::outer(int)"


def functions(frame: Frame, *places: Path) -> list[str]:
    symbols = resolve([[frame]], KeptFiles(places))
    return [line.function for line in symbols.shown([frame])]


@pytest.mark.parametrize("now", ["gone", "built anew"])
def test_a_kept_copy_has_the_names(tmp_path: Path, now: str) -> None:
    """Whatever it is called."""
    program = built(tmp_path, "-g")
    frame = frame_in(program)
    folder = tmp_path / "kept" / "deeper"
    folder.mkdir(parents=True)
    shutil.move(program, folder / "app-of-monday")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to(folder)
    (folder / "cut").write_bytes(b"\x7fELF\2\1\1")
    if now == "built anew":
        built(tmp_path, "-g", "-O0")
    nameless = f"app+{frame.offset:#x}"
    assert functions(frame) == [nameless]
    assert functions(frame, tmp_path / "kept")[-1] == OUTER
    assert functions(frame, folder / "app-of-monday")[-1] == OUTER
    assert functions(frame, tmp_path / "kept" / "none", tmp_path / "kept")[-1] == OUTER
    other = Frame(frame.module, "ab" * 20, frame.offset)
    assert functions(other, tmp_path / "kept") == [nameless]


@pytest.mark.parametrize("tool", [*tools.TOOLS, None])
@pytest.mark.parametrize("is_of_system", [False, True])
def test_debugging_information_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str | None, is_of_system: bool
) -> None:
    """As packages have it: the program itself has no names of its functions any more."""
    found = shutil.which(tool) if tool else None
    if tool and not found:
        pytest.skip(f"{tool} is not installed")
    monkeypatch.setattr(tools, "find", lambda: (tool, found) if found else None)
    program = built(tmp_path, "-g")
    frame = frame_in(program)
    debug = tmp_path / "debug" / ".build-id" / frame.build_id[:2] / f"{frame.build_id[2:]}.debug"
    debug.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["strip", program], check=True)
    assert functions(frame) == [f"app+{frame.offset:#x}"]
    places = [tmp_path / "debug"]
    if is_of_system:
        monkeypatch.setattr(kept_files, "SYSTEM", places.pop())
    symbols = resolve([[frame]], KeptFiles(places))
    lines = symbols.shown([frame])
    assert lines[-1].function == OUTER
    assert Path(lines[0].file).name == "program.cc" and lines[0].line == 4
    assert not symbols.problems


@pytest.mark.parametrize(
    "build_id", ["", "../../../../etc", "ab", "AB" * 20, "ab/cd" * 8, "\0" * 40]
)
def test_what_is_no_build_id_finds_nothing(tmp_path: Path, build_id: str) -> None:
    program = built(tmp_path, "-Wl,--build-id=none")
    frame = Frame("/gone/app", build_id, 16)
    assert KeptFiles([tmp_path, program]).of(build_id) == []
    assert functions(frame, tmp_path) == ["app+0x10"]


def test_the_command(tmp_path: Path) -> None:
    """A record from elsewhere; without the option the report says what to do."""
    folder = tmp_path / "build"
    folder.mkdir()
    program = built(folder)
    frame = frame_in(program)
    built(folder, "-O1")
    ran = tmp_path / "ran"
    ran.mkdir()
    built(ran)
    job = Job(facts={"ranks": "1"})
    node = job.node()
    rank_row(node, 0)
    module = node.add("modules", file=str(program), build_id=frame.build_id)
    path = node.add("paths", module=module, offset=frame.offset)
    node.call(0, "MPI_Send", 0, path=path, calls=1, time=1000, least=1000)
    record = job.write(tmp_path)

    def told(*options: str) -> str:
        line = [sys.executable, "-m", "headrace", "report", str(record), *options]
        done = subprocess.run(line, cwd=ROOT / "python", capture_output=True, text=True, check=True)
        return done.stdout

    def names(*options: str) -> list[str]:
        path = json.loads(told("--json", *options))["mpi"]["paths"][0]
        return [one["function"] for one in path["frames"]]

    assert names() == [f"app+{frame.offset:#x}"]
    assert REBUILT in told() and "by --symbols DIR" in " ".join(told().split())
    assert names("--symbols", str(ran))[-1] == OUTER
    assert "--symbols" not in told("--symbols", str(ran))
