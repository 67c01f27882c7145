"""METIS in a process of its own: whatever becomes of it, there is an order."""

from pathlib import Path

import numpy as np
import pytest

from headrace.place import metis, partition
from headrace.place.grid import Grid, stencil_graph

GRAPH = stencil_graph(Grid((4, 4)), 5, 1)
FIRST_THEN = (
    "def part_graph(*_, options, **__):\n    if options['seed'] == 1: return 0, [0, 1] * 8\n"
)
ENDS = {
    "dies": ("import os\ndef part_graph(*_, **__): os.abort()", "it ended with signal 6"),
    "raises": ("def part_graph(*_, **__): raise RuntimeError", "it ended with code 1"),
    "hangs": ("import time\ndef part_graph(*_, **__): time.sleep(99)", "longer than 1 s"),
    "lies": ("def part_graph(*_, **__): return 0, [7] * 16", "no partition"),
}


def replace_library(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """METIS is what `text` defines."""
    (folder / "pymetis.py").write_text(f"Options = dict\ndef CSRAdjacency(*_): pass\n{text}\n")
    monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize("end", ENDS)
def test_a_failure_costs_no_order(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text, why = ENDS[end]
    replace_library(text, tmp_path, monkeypatch)
    monkeypatch.setattr(metis, "LEAST_SECONDS", 1 if end == "hangs" else 600)
    found = list(partition.parts(GRAPH, [8, 8]))
    assert [name for name, _ in found] == ["gathered around ranks"]
    assert np.bincount(found[0][1]).tolist() == [8, 8]
    (line,) = capfd.readouterr().err.splitlines()
    assert why in line


def test_what_was_found_before_a_failure_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    replace_library(f"{FIRST_THEN}    raise RuntimeError", tmp_path, monkeypatch)
    ((name, found),) = partition.parts(GRAPH, [8, 8])
    assert (name, found.tolist()) == ("METIS", [0, 1] * 8)
    assert not capfd.readouterr().err


@pytest.mark.skipif(not metis.is_there(), reason="needs PyMetis, which has no wheel here")
def test_each_seed_is_answered() -> None:
    found = list(partition.parts(GRAPH, [8, 8]))
    assert [name for name, _ in found] == ["METIS"] * len(partition.SEEDS)
    assert len(list(partition.parts(GRAPH, [8, 8], single=True))) == 1
