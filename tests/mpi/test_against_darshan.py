"""What is recorded of a program's files is what Darshan logged of the same run, counter by counter.

Darshan's run-time library is in no registry. Build it for MPICH (./configure CC=mpicc
--with-jobid-env=NONE --with-log-path=...), and name libdarshan.so by HEADRACE_TEST_DARSHAN.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hosts import host_named
from running import launch, work_directory
from test_program_io import c_program, files_below, io_in, recorded

DARSHAN = os.environ.get("HEADRACE_TEST_DARSHAN", "")
# Files of calls that both count in the same way; docs/files.md tells of the others.
ALIKE = {
    "POSIX": ("plain", "handler", "threads", "asynchronous", "quiet"),
    "STDIO": ("stream",),
}
BOTH = {
    "opens": "OPENS",
    "reads": "READS",
    "writes": "WRITES",
    "seeks": "SEEKS",
    "bytes_read": "BYTES_READ",
    "bytes_written": "BYTES_WRITTEN",
}
POSIX = {
    "consecutive_reads": "CONSEC_READS",
    "consecutive_writes": "CONSEC_WRITES",
    "unaligned": "FILE_NOT_ALIGNED",
}
# Darshan takes a first access that is not at the file's begin for a sequential one.
FIRST = {"sequential_reads": "SEQ_READS", "sequential_writes": "SEQ_WRITES"}
BINS = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M")
BINS += ("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")


def logged(path: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Counters by module and file, without the module's name, summed over the ranks."""
    import darshan

    log = darshan.DarshanReport(str(path), read_all=True)
    found: dict[str, dict[str, dict[str, int]]] = {}
    for module in ALIKE:
        rows = log.records[module].to_df()["counters"]
        sums = rows.drop(columns=["rank"]).groupby("id").sum()
        found[module] = {
            log.name_records[number]: {
                name.removeprefix(f"{module}_"): int(value) for name, value in row.items()
            }
            for number, row in sums.iterrows()
        }
    return found


def compare(own: dict[str, Any], counters: dict[str, int], module: str) -> None:
    names = BOTH | (POSIX if module == "POSIX" else {})
    assert {one: own[one] for one in names} == {one: counters[names[one]] for one in names}
    if module != "POSIX":
        return
    for one, name in FIRST.items():
        assert 0 <= counters[name] - own[one] <= own["ranks"], one
    assert own["read_bins"] == [counters[f"SIZE_READ_{one}"] for one in BINS]
    assert own["write_bins"] == [counters[f"SIZE_WRITE_{one}"] for one in BINS]


@pytest.mark.skipif(not DARSHAN, reason="needs HEADRACE_TEST_DARSHAN: Darshan's library")
@pytest.mark.parametrize("darshan_is_first", [False, True])
def test_counters_are_darshans(library: Path, darshan_is_first: bool) -> None:
    host, ranks = host_named("mpich"), 2
    directory = work_directory(f"against-darshan-{darshan_is_first}")
    for rank in range(ranks):
        (directory / f"rank-{rank}" / "many").mkdir(parents=True)
    log = directory / "log.darshan"
    environment = recorded(directory) | {"DARSHAN_LOGFILE": str(log), "DARSHAN_MODMEM": "64"}
    objects = [Path(DARSHAN), library] if darshan_is_first else [library, Path(DARSHAN)]
    done = launch(host, ranks, [c_program(host), directory], True, environment, objects=objects)
    assert done.code == 0, done.explain()
    own, darshans = files_below(directory, io_in(directory)), logged(log)
    for module, names in ALIKE.items():
        for name in (f"rank-{rank}/{name}" for rank in range(ranks) for name in names):
            compare(own[name][module.lower()], darshans[module][f"{directory}/{name}"], module)
