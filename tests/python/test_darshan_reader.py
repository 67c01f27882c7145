"""Files that are no Darshan log, or one that is cut, garbled or in part: one clear line, or what
can be read and what it lacks. Whatever becomes of PyDarshan, the command goes on."""

import importlib.util
import json
import os
import random
from pathlib import Path

import pytest
from cli_support import ROOT, Command
from darshan_support import AMPLIFIED, LOGS, ONE_SICK_TARGET, log_of, needs_pydarshan
from record_support import small_job
from schema_support import check

from headrace.darshan import reader
from headrace.errors import HeadraceError

SCHEMA = json.loads((ROOT / "docs" / "reference" / "compare.schema.json").read_text())
GARBLED = 4  # logs, of which each takes a process
LIBRARY = "log_open = lambda path: {'handle': 1}\nclass libdutil: pass\nclass ffi: NULL = 0\n"
ENDS = {
    "dies": ("import os; os.abort()", "PyDarshan ended with signal 6"),
    "leaves": ("import os; os._exit(3)", "PyDarshan ended with code 3"),
    "raises": ("raise RuntimeError('a riddle')", "(a riddle)"),
    "hangs": ("import time; time.sleep(99)", "longer than 1 s"),
    "eats": ("x = bytearray(1 << 40)", "MemoryError"),
    "lacks": (LIBRARY, "has no attribute"),
    "shouts": ("import os; os.write(1, b'{}'); raise RuntimeError('after noise')", "after noise"),
}


def refusal(path: Path) -> str:
    with pytest.raises(HeadraceError) as caught:
        reader.read(path)
    text = str(caught.value)
    assert text.isprintable() and caught.value.exit_code == 1 and len(text) < 1000
    return text


def replace_library(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyDarshan is what `text` does."""
    package = folder / "fake" / "darshan" / "backend"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "cffi_backend.py").write_text(text)
    monkeypatch.syspath_prepend(folder / "fake")


@pytest.mark.parametrize("end", ENDS)
def test_whatever_becomes_of_pydarshan(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, why = ENDS[end]
    replace_library(text, tmp_path, monkeypatch)
    monkeypatch.setattr(reader, "LEAST_SECONDS", 1 if end == "hangs" else 600)
    log = tmp_path / "a.darshan"
    log.write_bytes(b"3.41")
    assert why in refusal(log)


def test_without_pydarshan_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.darshan"
    log.write_bytes(b"3.41")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert refusal(log) == (
        f"'{log}' cannot be read (the Python package 'darshan' is not installed), "
        "pip install 'headrace[darshan]'"
    )


@needs_pydarshan
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "invalid log file"),
        (b"hello\n" * 999, ""),
        (b"9.99", "incompatible darshan file; expected version 3.41, but got 9.99"),
        (b"2.05", "incompatible darshan file; expected version 3.41, but got 2.05"),
        (b"\x1f\x8b\x08\x00" + b"\0" * 400, ""),
    ],
)
def test_what_is_no_log_is_refused(data: bytes, why: str, tmp_path: Path) -> None:
    log = tmp_path / "a.darshan"
    whole = LOGS[AMPLIFIED].read_bytes()
    log.write_bytes(data + whole[4:] if len(data) == 4 else data)
    text = refusal(log)
    assert text.startswith(f"'{log}' is no Darshan log that can be read (") and why in text


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.darshan")
    (tmp_path / "folder.darshan").mkdir()
    for name in ("pipe", "folder"):
        assert "is no Darshan log (it is no file)" in refusal(tmp_path / f"{name}.darshan")
    assert "No such file" in refusal(tmp_path / "absent.darshan")


@needs_pydarshan
def test_a_log_is_known_by_its_bytes(tmp_path: Path) -> None:
    renamed = tmp_path / "log"
    renamed.write_bytes(LOGS[AMPLIFIED].read_bytes())
    assert reader.is_log(renamed) and reader.read(renamed).uses == log_of(AMPLIFIED).uses
    assert not reader.is_log(small_job().write(tmp_path))
    assert not reader.is_log(tmp_path / "absent") and not reader.is_log(tmp_path)


@needs_pydarshan
def test_a_log_that_was_cut_off(tmp_path: Path) -> None:
    whole = LOGS[ONE_SICK_TARGET].read_bytes()
    log = tmp_path / "a.darshan"
    log.write_bytes(whole[:-200])  # in the last module, STDIO
    found = reader.read(log)
    assert found.lacks and "module STDIO cannot be read to its end" in found.lacks[0]
    assert {use.interface for use in found.uses} == {"POSIX"} and len(found.uses) == 2048
    log.write_bytes(whole[: len(whole) // 2])
    assert "none of its records can be read" in refusal(log)


@needs_pydarshan
def test_garbled_logs_are_read_or_refused(tmp_path: Path) -> None:
    chance = random.Random(39)
    whole = LOGS[AMPLIFIED].read_bytes()
    log = tmp_path / "a.darshan"
    for _ in range(GARBLED):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 8, 64))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        log.write_bytes(data)
        try:
            reader.read(log)
        except HeadraceError as error:
            assert str(error).isprintable()


@needs_pydarshan
def test_the_commands_take_logs(headrace: Command, tmp_path: Path) -> None:
    log = tmp_path / "run\n<b>.darshan"
    log.write_bytes(LOGS[AMPLIFIED].read_bytes())
    shown = headrace("report", log)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("16 ranks, 4.000 s, Darshan log 3.21, /home/")
    assert "Ranks wait for each other in MPI-IO" in shown.stdout
    assert headrace("report", log, "--html").returncode == 0
    assert "<b>Darshan" not in log.with_suffix(".html").read_text()
    assert "Nothing was written" in headrace("apply", log).stdout
    record = small_job().write(tmp_path)
    done = headrace("report", log, record)
    assert done.returncode == 1 and "a Darshan log is of a whole job" in done.stderr


@needs_pydarshan
def test_logs_are_compared_with_logs(headrace: Command, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.darshan").write_bytes(LOGS[AMPLIFIED].read_bytes())
    done = headrace("compare", "a.darshan", "b.darshan", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    check(told, SCHEMA)
    assert told["speed_up"]["ratio"] == 1 and not told["changes"] and not told["obstacles"]
    assert [one["name"] for one in told["classes"]] == ["I/O"]
    assert "MPI-IO writes" in {one["name"] for one in told["procedures"]}
    done = headrace("compare", "a.darshan", small_job().write(tmp_path))
    assert done.returncode == 3
    assert "the kinds of files differ: Darshan log before, record after" in done.stdout
