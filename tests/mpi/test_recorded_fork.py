"""Nothing of child processes is counted, and the record of their parents is whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from running import compile_program, launch, work_directory
from test_recorder import check_tally, report_of


@pytest.mark.parametrize("ranks", [1, 2])
def test_children_are_not_counted(host: Host, ranks: int, library: Path) -> None:
    sources = ["recorded_fork.c", "recorded_tally.c"]
    program = compile_program(host.compilers["c"], sources, f"recorded-fork-{host.name}")
    directory = work_directory(f"recorded-fork-{host.name}-{ranks}")
    images = directory / "images"
    images.mkdir()
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_RECORD_DIRECTORY": str(images),
    }
    result = launch(host, ranks, [program, directory / "file"], True, settings)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    check_tally(report, directory / "file")
    assert report["run"]["complete"] and report["run"]["ranks"] == ranks
    assert not list(images.iterdir())
