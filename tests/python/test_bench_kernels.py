"""`headrace bench lattice` and `strided`, and every program under every ABI."""

import json
from pathlib import Path

import pytest
from bench_support import bench_command, lattice_file
from cli_support import Command

from headrace.bench.programs import NAMES, SUFFIXES, find_program
from headrace.elf.facts import read_facts
from headrace.launch.preload import find_library

KINDS = ("mpich", "openmpi", "intel", "abi")
DIMS = (8, 4, 2, 6)
SEED = 5


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


@pytest.mark.parametrize("order", ["lexicographic", "evenodd"])
@pytest.mark.parametrize("way", ["mpiio", "rank0", "posix", "mpiio --plain"])
def test_field_is_in_its_order(bench: Command, way: str, order: str) -> None:
    name, *plain = way.split()
    flags = f"--way {name} --order {order} --dims 8,4,2,6 -G {SEED} -k -o f --json out".split()
    result = bench("bench", "lattice", "-n", 4, *plain, "--", *flags)
    assert result.returncode == 0, result.stderr
    assert (bench.directory / "f").read_bytes() == lattice_file(DIMS, order, SEED)
    document = json.loads((bench.directory / "out").read_text())
    assert document["wrongBytes"] == 0
    assert [row["access"] for row in document["results"]] == ["write", "read"]


def test_rank0_works_through_more_than_one_slab(bench: Command) -> None:
    flags = f"--way rank0 --order evenodd --dims 16,16,8,8 -G {SEED} -k -o f".split()
    result = bench("bench", "lattice", "-n", 3, "--", *flags, "--grid", "1,1,1,3")
    assert result.returncode == 2  # 3 does not divide 8
    result = bench("bench", "lattice", "-n", 4, "--", *flags)
    assert result.returncode == 0, result.stderr
    assert (bench.directory / "f").read_bytes() == lattice_file((16, 16, 8, 8), "evenodd", SEED)


def test_a_wrong_double_is_found(bench: Command) -> None:
    flags = f"--dims 8,4,2,6 -G {SEED} -o f".split()
    assert bench("bench", "lattice", "--", "-w", "-k", *flags).returncode == 0
    with open(bench.directory / "f", "r+b") as file:
        file.seek(576 * 100 + 8 * 7)
        file.write(b"\x01")
    result = bench("bench", "lattice", "--", "-r", *flags)
    assert result.returncode == 1
    assert "1 wrong bytes in 'f' after read" in result.stderr
    assert "the first at byte 57656 (site 100 double 7)" in result.stderr


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("--dims 8,4,2", "four numbers"),
        ("--dims 7,5,3,3", "no process grid of 2 ranks"),
        ("--dims 6,4,4,4 --grid 2,1,1,1 --order evenodd", "even x extent"),
        ("--grid 4,1,1,1", "not one of 2 ranks"),
        ("--way none", "unknown way 'none'"),
        ("--order none", "unknown order 'none'"),
    ],
)
def test_bad_lattice_is_one_clear_line(bench: Command, flags: str, text: str) -> None:
    result = bench("bench", "lattice", "--plain", "--", *flags.split())
    assert result.returncode == 2
    lines = [line for line in result.stderr.splitlines() if line.startswith("lattice: error: ")]
    assert len(lines) == 1 and text in lines[0]


def strided(bench: Command, *arguments: str) -> tuple[int, dict]:
    result = bench("bench", "strided", "-n", 4, *arguments, "--json", "out", "-o", "f")
    return result.returncode, json.loads((bench.directory / "out").read_text())


def test_strided_write_leaves_others_alone(bench: Command) -> None:
    code, document = strided(bench, "--", "--size", "128m")
    assert (code, document["overwrittenBytes"], document["wrongBytes"]) == (0, 0, 0)
    assert document["results"][0]["hintsBeforeClose"]["headrace_write_taken"] in (
        "staged",
        "direct",
    )


@pytest.mark.parametrize("block", ["512", "100", "4096"])
def test_strided_file_is_the_same_either_way(bench: Command, block: str) -> None:
    flags = ("-b", block, "--size", "1m", "-k")
    assert strided(bench, "--plain", "--", "--way", "posix", *flags)[0] == 0
    expected = (bench.directory / "f").read_bytes()
    assert strided(bench, "--", *flags)[0] == 0
    assert (bench.directory / "f").read_bytes() == expected


def test_damage_is_counted(bench: Command) -> None:
    """Open MPI 5.0.11 overwrites others' bytes beyond 64 MiB; the program must say so."""
    code, document = strided(bench, "--mpi", "openmpi", "--plain", "--", "--size", "128m")
    if "v5.0.11" not in document["MPI"]:
        pytest.skip("the fault is known of Open MPI 5.0.11")
    assert code == 1
    assert document["overwrittenBytes"] > 50_000_000
    assert document["firstOverwritten"] >= 64 << 20


def overlap(bench: Command, *flags: str) -> dict:
    arguments = ("--size", "64k", "-i", "2", "-o", "f", "--json", "out", *flags)
    result = bench("bench", "overlap", "-n", 2, "--", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads((bench.directory / "out").read_text())


@pytest.mark.parametrize("call", ["individual", "collective", "split"])
def test_overlapped_transfers_move_the_right_data(bench: Command, call: str) -> None:
    document = overlap(bench, "-w", "-r", "--call", call, "-b", "4k")
    assert document["wrongBytes"] == 0
    assert [row["access"] for row in document["samples"]] == ["write", "read"] * 2


def test_slow_store_sleeps_in_every_transfer(bench: Command) -> None:
    document = overlap(bench, "-w", "-r", "--delay", "3200")
    assert document["undelayedBytes"] == 0
    assert all(row["transfer"] >= 0.2 and row["together"] >= 0.2 for row in document["samples"])


def test_a_plain_run_is_plain_whatever_is_preloaded(bench: Command) -> None:
    library = str(find_library(bench.environ))
    flags = ("--dims", "8,8", "-w", "-o", "f", "--json", "out")
    for plain in ((), ("--plain",)):
        result = bench("bench", "tile", *plain, "--", *flags, LD_PRELOAD=library)
        assert result.returncode == 0, result.stderr
        [row] = json.loads((bench.directory / "out").read_text())["results"]
        is_layered = any(key.startswith("headrace_") for key in row["hintsBeforeClose"])
        assert is_layered == (not plain)


@pytest.mark.parametrize("kind", KINDS)
def test_every_abi_runs(bench: Command, kind: str) -> None:
    flags = ("-a", "MPIIO", "-c", "-w", "-r", "-R", "-C", "-s", "4", "-b", "8k", "-t", "1k")
    for plain in ((), ("--plain",)):
        result = bench("bench", "ior", "--mpi", kind, *plain, "--", *flags)
        assert result.returncode == 0, result.stderr
        assert "Wrong bytes         : 0" in result.stdout


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["mpich", "openmpi", "abi"])
def test_programs_name_their_library_only(bench: Command, name: str, kind: str) -> None:
    program = find_program(name, kind, bench.environ)
    assert program.name == f"{name}-{SUFFIXES[kind]}"
    facts = read_facts(program)
    expected = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40", "abi": "libmpi_abi.so.1"}
    assert expected[kind] in facts.needed
    assert not any("stdc++" in needed for needed in facts.needed)
    assert not facts.rpath and not facts.runpath
