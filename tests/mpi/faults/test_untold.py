"""Failed writes that go on by themselves: each is told once, by whatever asks, also where memory
lacks while it is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hosts import Host
from running import compile_c, launch, shared_object, work_directory


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.deep)])
def test_untold_writes(host: Host, ranks: int, library: Path) -> None:
    directory = work_directory(f"faults-untold-{ranks}-{host.name}")
    program = compile_c(host, ["untold_writes.c"], "untold_writes")
    objects = [library, shared_object("store_fault.c")]
    result = launch(host, ranks, [program, directory], True, objects=objects)
    assert result.code == 0 and "0 failures" in result.out, result.explain()
    shutil.rmtree(directory)
