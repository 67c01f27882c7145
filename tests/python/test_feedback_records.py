"""GCC's records are read in parts; remarks on other files are left out; text of any kind."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from headrace.feedback import gcc, llvm, records
from headrace.feedback.files import GCC_RECORD, read
from headrace.feedback.remark import distinct

FOLDER = Path(__file__).with_name("feedback")


def test_a_record_of_hundreds_of_mebibytes(tmp_path: Path) -> None:
    """A C++ program of a page that uses std::regex has 140 MiB."""
    one = {"kind": "success", "location": {"file": "a.c", "line": 3}, "function": "f"}
    one["message"] = ["loop vectorized"]
    data = b'[{"format": "1"}, [], [' + b" " * (200 << 20) + json.dumps(one).encode() + b"]]"
    (tmp_path / f"a.c{GCC_RECORD}").write_bytes(gzip.compress(data, 1))
    found = read([tmp_path], frozenset({"a.c"}))
    assert not found.problems
    assert [one.line for file in found.files for one in file.remarks] == [3]
    assert not any(file.remarks for file in read([tmp_path], frozenset({"b.c"})).files)


@pytest.mark.parametrize("step", [1, 7, 64])
def test_records_that_parts_cut(tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = ["-O3", "-fsave-optimization-record", "-c"]
    subprocess.run(["gcc", *flags, FOLDER / "kernels.c"], cwd=tmp_path, check=True)
    (file,) = tmp_path.glob("*.opt-record.json.gz")
    data = gzip.compress(
        json.dumps(json.loads(gzip.decompress(file.read_bytes()))[2][:40]).encode()
    )
    monkeypatch.setattr(records, "_STEP", step)
    own = gzip.compress(b"[{}, [ ],\n" + gzip.decompress(data) + b" ]")
    expected = json.loads(gzip.decompress(data))
    packed = records.Packed(own)
    assert expected and list(packed.records()) == expected
    assert packed.has_any([b"kernels.c"]) and not packed.has_any([b"kernels.d"])
    assert not records.Packed(own).has_any([])


def test_text_that_is_not_utf_8() -> None:
    one = b'{"kind": "success", "location": {"file": "a.c", "line": 3}, "message": ["vectorized'
    (found,) = gcc.record(
        gzip.compress(b"[{}, [], [" + one + b' basic block part vectorized \xe9"]}]]')
    )
    assert found.text.endswith("\ufffd")


def test_remarks_of_llvm_on_other_files_are_left_out(tmp_path: Path) -> None:
    for name in ("kernels.opt.yaml", "matrix.opt.yaml"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    found = read([tmp_path], frozenset({"kernels.c"}))
    whole = [one for one in distinct(llvm.text((FOLDER / "kernels.opt.yaml").open()))]
    assert [len(file.remarks) for file in found.files] == [len(whole), 0]
