"""Of every procedure whose bytes are counted the record has what a program tallied that calls them
all: tests/mpi/programs/recorded_every.c, whose callers are generated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import compile_c, launch, shared_object, work_directory
from test_recorder import check_tally, report_of

SOURCES = ["recorded_every.c", "generated/recorded_every_calls.c", "recorded_tally.c"]

PERSISTENT_COLLECTIVES = ["MPI_*[!dv]_init*:anywhere", "MPI_*[lr]v_init*:anywhere"]
# What an MPI cannot do, with or without Headrace: programs end by a signal or an error, or hang.
SPARED = {
    "debian-mpich": [  # 4.0
        *PERSISTENT_COLLECTIVES,
        *("MPI_Isendrecv*:anywhere", "MPI_Reduce:in_place", "MPI_Reduce_c:in_place"),
    ],
    "intel": PERSISTENT_COLLECTIVES,  # 2021
    # On groups of two ranks, "message truncated".
    "openmpi": ["MPI_Scatterv:between"],
    "debian-openmpi": ["MPI_Scatterv:between"],
}


def check_every(host: Host, library: Path, ranks: int) -> None:
    program = compile_c(host, SOURCES, "recorded_every")
    directory = work_directory(f"recorded-every-{host.name}-{ranks}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    command = [program, directory / "file", *SPARED.get(host.name, [])]
    objects = [library]
    if host.family.startswith("mpich") and ranks <= 2:  # launch() adds it for more
        objects.append(shared_object("yield_shim.c"))
    result = launch(host, ranks, command, True, settings, objects=objects)
    assert result.code == 0, result.explain()
    left_out = re.findall(r"^left out: (.+)$", result.out, re.MULTILINE)
    print(f"{host.name} lacks", *left_out or ["nothing"], sep="\n  ")
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    check_tally(report, directory / "file")
    assert report["run"]["ranks"] == ranks and report["run"]["complete"]
    if host.family == "mpich5" and ranks > 1:
        assert not left_out


def test_every_procedure(host: Host, library: Path) -> None:
    check_every(host, library, 2)


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_every_procedure_on_more_or_fewer_ranks(host: Host, library: Path, ranks: int) -> None:
    check_every(host, library, ranks)
