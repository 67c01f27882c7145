"""A file system of the kernel that fails: what it says goes through the kernel's own calls."""

from __future__ import annotations

import signal
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from hosts import Host, all_hosts
from running import Result, compile_c, launch, shared_object

from faults import table
from faults.cases import STORE_CASES
from faults.conftest import USUAL
from faults.fuse import abort_file, mounted_store
from faults.plan import SOURCES, TRANSFERS, Case
from faults.processes import MARKER, strays
from faults.test_store import problems as store_problems

RANKS = 2
HOSTS = [
    pytest.param(host.name, marks=() if host.name in (*USUAL, "mpich-abi") else pytest.mark.deep)
    for host in all_hosts()
]
# A byte of the first rank's in every shape, for 2 and 4 ranks: its pieces lie 2,000, 4,000 or 8,000
# bytes apart.
BAD_BYTE = 96_500


def _is_for_fuse(case: Case) -> bool:
    """What a process does to itself is no affair of a file system's."""
    return bool(case.call) and not case.is_gone


def _of_place() -> list[Case]:
    """Errors at one place of the file, and late replies."""
    cases = []
    for transfer in TRANSFERS:
        for writes, errors in ((True, ("EIO", "ENOSPC", "EDQUOT")), (False, ("EIO", "ESTALE"))):
            call = "write" if writes else "read"
            for error in errors:
                name = f"{call}-{transfer.name}-{error}-at"
                rest = f"first=0 at={BAD_BYTE}"
                cases.append(Case(name, writes, transfer, call, error, rest))
            name = f"{call}-{transfer.name}-slow"
            cases.append(Case(name, writes, transfer, call, "", "first=0 times=4 delay=40"))
    return cases


# Here the file is cut between two replies, so that counts are exact.
ALL_CASES = [
    *(replace(case, is_cut=False) for case in STORE_CASES if _is_for_fuse(case)),
    *_of_place(),
]
USUAL_CASES = [case for case in ALL_CASES if "-once" not in case.name and "-third" not in case.name]
# What is not sure to be met there is left out, and what the kernel does not pass on.
CACHED_CASES = [
    case for case in ALL_CASES if case.must_meet and case.error and "at=" not in case.rest
]


def run_on_fuse(
    host: Host, cases: list[Case], mount: Path, ranks: int, library: Path, **options
) -> Result:
    """One job for all cases."""
    bin_directory = mount.parent / "bin"
    bin_directory.mkdir()
    (bin_directory / "plan").write_text("".join(case.line() + "\n" for case in cases))
    preloaded = options.pop("preloaded", "fuse_client.c")
    objects = [library, shared_object(preloaded)]
    if host.family.startswith("mpich") and ranks <= 2:
        objects.append(shared_object("yield_shim.c"))
    program = compile_c(host, SOURCES, "fault_job")
    words = [program, mount, bin_directory / "plan"]
    settings = {"FUSE_STORE": str(mount), **options.pop("environment", {})}
    return launch(host, ranks, words, True, settings, objects=objects, **options)


def problems(host: Host, cases: list[Case], result: Result, ranks: int, row: str = "") -> list[str]:
    """What is wrong, and the cases' entries in the table."""
    wrong = store_problems(host, cases, result, ranks, lambda case: f"FUSE: {row or case.row()}")
    if not wrong and (result.code != 0 or not result.out.endswith("end\n") or result.litter):
        wrong.append(f"leaves {result.litter}\n{result.explain()}")
    return wrong


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_fuse(host: Host, place: Path, needs_root, library) -> None:
    with mounted_store(place / "mount") as mount:
        result = run_on_fuse(host, USUAL_CASES, mount, RANKS, library)
    wrong = problems(host, USUAL_CASES, result, RANKS)
    assert not wrong, f"{len(wrong)} problems\n" + "\n".join(wrong)


@pytest.mark.deep
@pytest.mark.parametrize("ranks", [2, 4])
def test_fuse_deep(host: Host, ranks: int, place: Path, needs_root, library) -> None:
    """Also errors that begin late or pass, and more ranks."""
    with mounted_store(place / "mount") as mount:
        result = run_on_fuse(host, ALL_CASES, mount, ranks, library)
    wrong = problems(host, ALL_CASES, result, ranks)
    assert not wrong, f"{len(wrong)} problems\n" + "\n".join(wrong)


@pytest.mark.deep
def test_fuse_cached(host: Host, place: Path, needs_root, library) -> None:
    """By way of the kernel's pages, which come and go in other pieces than were asked for."""
    with mounted_store(place / "mount", "cached") as mount:
        result = run_on_fuse(host, CACHED_CASES, mount, RANKS, library)
    wrong = problems(host, CACHED_CASES, result, RANKS, "cached")
    assert not wrong, f"{len(wrong)} problems\n" + "\n".join(wrong)


@pytest.mark.parametrize("host", HOSTS, indirect=True)
@pytest.mark.parametrize("transfer", TRANSFERS[:2], ids=lambda one: one.name)
def test_killed_while_the_file_system_is_slow(
    host: Host, transfer, place: Path, needs_root, library
) -> None:
    """A rank is killed in a call that the file system has taken and not answered."""
    case = Case("killed", True, transfer, "write", "", f"first=1 signal={signal.SIGKILL} delay=300")
    marker = uuid.uuid4().hex
    with mounted_store(place / "mount") as mount:
        result = run_on_fuse(host, [case], mount, RANKS, library, environment={MARKER: marker})
        left = strays(marker)
    good = result.code not in (0, 124) and not left and not result.litter
    table.note("FUSE: killed in a slow call", host.name, good)
    assert good, f"leaves {left} {result.litter}\n{result.explain()}"


@pytest.mark.parametrize("host", HOSTS, indirect=True)
@pytest.mark.parametrize("transfer", TRANSFERS[:2], ids=lambda one: one.name)
def test_the_file_system_goes_away(host: Host, transfer, place: Path, needs_root, library) -> None:
    """Its connection breaks before the first byte: each later call fails, and all ranks end."""
    with mounted_store(place / "mount") as mount:
        broken = Case(
            "gone",
            True,
            transfer,
            "write",
            "",
            f"first=0 times=1 poke={abort_file(mount)}",
            fails=("IO",),
            is_lasting=True,
            loses_data=True,
            is_gone=True,
        )
        result = run_on_fuse(host, [broken], mount, RANKS, library, preloaded="store_fault.c")
    wrong = problems(host, [broken], result, RANKS, "goes away")
    assert not wrong, "\n".join(wrong)
