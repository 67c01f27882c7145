"""File systems that fill up or fail under an open file, as an unprivileged user where they do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from mounting import mounted
from running import compile_c, launch, run, shared_object
from test_bad_input import DROP, NOBODY

from faults import table
from faults.plan import RANK_BYTES, SOURCES, TRANSFERS, Case, Transfer, judge, read_facts

RANKS = 2
MEGABYTE = 1 << 20
QUOTA = "150k"


FURTHER = [
    Transfer(how, shape)
    for how, shape in (
        ("at", "blocks"),
        ("at", "holes"),
        ("iplain", "holes"),
        ("iat_all", "blocks"),
        ("split-at_all", "blocks"),
        ("shared", "blocks"),
        ("ishared", "blocks"),
        ("split-ordered", "blocks"),
    )
]


def filling(name: str, error: str) -> list[Case]:
    """Every kind of write, with less room than it needs."""
    return [
        Case(
            f"{name}-{transfer.name}",
            True,
            transfer,
            "",
            "",
            "filled=0",
            fails=(error,),
            is_lasting=True,
            takes_room_again=name == "quota",
        )
        for transfer in (*TRANSFERS, *FURTHER)
    ]


def run_cases(host: Host, cases: list[Case], directory: Path, library: Path, fills: bool) -> str:
    """What is wrong, or nothing. fills: the file system gets full, for an unprivileged user."""
    bin_directory = directory.parent / "bin"
    bin_directory.mkdir()
    (bin_directory / "plan").write_text("".join(case.line() + "\n" for case in cases))
    made = [compile_c(host, SOURCES, "fault_job"), library]
    made += [shared_object("store_fault.c"), shared_object("yield_shim.c")]
    job, *objects = [Path(shutil.copy(path, bin_directory)) for path in made]
    before: list = []
    if fills:
        launcher = host.launch_line(RANKS)[0]
        if run([*DROP, "test", "-x", shutil.which(launcher)]).code != 0:
            absent(f"the unprivileged user may not run {launcher}")
        bin_directory.chmod(0o777)
        before = [*DROP, "env", f"HOME={bin_directory}", f"TMPDIR={bin_directory}"]
    words = [job, directory, bin_directory / "plan"]
    result = launch(host, RANKS, words, True, objects=objects, before=before, cwd=bin_directory)
    facts = read_facts(result.out)
    wrong = [
        f"{case.name}: {text} {facts.get(case.name)}"
        for case in cases
        for text in judge(case, facts.get(case.name, []), RANKS)
    ]
    if wrong:
        return "\n".join([*wrong, result.explain()])
    if result.code != 0 or result.litter:
        return f"leaves {result.litter}\n{result.explain()}"
    # It must have happened somewhere, else nothing was tried.
    met = [rank for case in cases for rank in facts[case.name] if rank["transfer"] != "SUCCESS"]
    if not met:
        return "no write failed"
    whole = [
        case.name
        for case in cases
        if not any(0 < int(rank["count"]) < RANK_BYTES for rank in facts[case.name])
    ]
    return f"no write failed in the middle: {whole}" if fills and whole else ""


def test_full_file_system(host: Host, place: Path, needs_root, library) -> None:
    """A tmpfs with less space than the ranks' data, but more than one rank's."""
    mount = place / "mount"
    options = f"size=140k,uid={NOBODY},gid={NOBODY}"
    with mounted("-t", "tmpfs", "-o", options, "tmpfs", at=mount):
        problem = run_cases(host, filling("full", "NO_SPACE"), mount, library, fills=True)
    table.note("mount: full tmpfs", host.name, not problem)
    assert not problem, problem


def test_full_quota(host: Host, place: Path, needs_root, library) -> None:
    """btrfs, where a subvolume may hold less than the ranks' data, and copies on write: who writes
    anew what is there finds no room for it."""
    image, mount = place / "image", place / "mount"
    with image.open("wb") as stream:
        stream.truncate(256 * MEGABYTE)
    if not shutil.which("mkfs.btrfs") or run(["mkfs.btrfs", "-q", "-n", "4096", image]).code != 0:
        pytest.skip("mkfs.btrfs is not installed")
    with mounted("-o", "loop", image, at=mount):
        directory = mount / "limited"
        for words in (
            ["quota", "enable", mount],
            ["subvolume", "create", directory],
            ["qgroup", "limit", QUOTA, directory],
        ):
            if run(["btrfs", *words]).code != 0:
                pytest.skip("this kernel's btrfs has no quotas")
        os.chown(directory, NOBODY, NOBODY)
        problem = run_cases(host, filling("quota", "QUOTA"), directory, library, fills=True)
    table.note("mount: full quota", host.name, not problem)
    assert not problem, problem


@pytest.mark.parametrize("transfer", TRANSFERS[:2], ids=lambda one: one.name)
def test_read_only_while_open(host: Host, transfer, place: Path, needs_root, library) -> None:
    """ext4 finds itself damaged in the middle of a write, and mounts itself read-only."""
    image, mount = place / "image", place / "mount"
    with image.open("wb") as stream:
        stream.truncate(16 * MEGABYTE)
    if not shutil.which("mkfs.ext4") or run(["mkfs.ext4", "-q", image]).code != 0:
        absent("mkfs.ext4 is not installed")
    with mounted("-o", "loop,errors=remount-ro", image, at=mount):
        device = Path(run(["findmnt", "-no", "SOURCE", mount]).out.strip()).name
        poke = Path("/sys/fs/ext4") / device / "trigger_fs_error"
        if not poke.exists():
            pytest.skip("this kernel's ext4 cannot be told to fail")
        case = Case(
            f"read-only-{transfer.name}",
            True,
            transfer,
            "write",
            "",
            f"first=1 times=1 poke={poke}",
            fails=("READ_ONLY", "IO"),
            is_lasting=True,
            loses_data=True,
        )
        problem = run_cases(host, [case], mount, library, fills=False)
    table.note("mount: read-only while open", host.name, not problem)
    assert not problem, problem
