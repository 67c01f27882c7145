"""`headrace bench peers` as a command: a small real run, going on with it, and bad input."""

import json
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import Command
from peers_support import made_attempt, made_results

from headrace.bench.peers.grid import Point
from headrace.bench.peers.results import save

SMALL = ("--np", "2", "--mpi", "mpich", "--rounds", "1", "--repeats", "0", "--dir", ".")


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def test_a_small_run_and_what_is_made_of_it(bench: Command) -> None:
    arguments = ("bench", "peers", "--cells", "tile-1000,open", "--size", "200000", *SMALL)
    result = bench(*arguments, "--json", "out")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.index("Where Headrace loses") < result.stdout.index("Every cell")
    assert "0 of 2 cells left" in result.stderr
    assert [path.name for path in bench.directory.iterdir()] == ["out"]
    before = (bench.directory / "out").read_text()
    content = json.loads(before)
    tile, opening = content["points"]
    [attempt] = tile["attempts"]
    assert attempt["took_part"] and all(attempt["identical"].values())
    assert set(attempt["requests"]) == {"write", "read"}
    [measured] = attempt["rounds"]
    assert set(measured["rates"]["limit"]) == {"write", "read"}
    assert set(opening["attempts"][0]["rounds"][0]["rates"]["plain"]) == {"create", "open"}

    # The same line has nothing left to do.
    again = bench(*arguments, "--json", "out")
    assert again.returncode == 0 and "round 1" not in again.stderr
    assert json.loads((bench.directory / "out").read_text()) == content
    shown = bench("bench", "peers", "--from", "out", "--markdown", "page.md")
    assert shown.returncode == 0 and shown.stdout == again.stdout
    assert "tile, pieces of 1,000 B" in (bench.directory / "page.md").read_text()

    other = bench(*arguments, "--json", "out", HEADRACE_X="1")
    assert other.returncode == 2 and "with other settings in the environment" in other.stderr
    assert json.loads((bench.directory / "out").read_text()) == content


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--cells", "tile-9"), "there is no cell 'tile-9'"),
        (("--cells", ""), "there is no cell ''"),
        (("--np", "0"), "'0' is not a list of numbers"),
        (("--np", "2,,4"), "'2,,4' is not a list of numbers"),
        (("--size", "0"), "0 is not in the range"),
        (("--size", "7"), "does not fit into 7 bytes"),
        (("--size", "100", "--cells", "tile-1000"), "2 ranks move 2000 bytes at least"),
        (("--rounds", "0"), "0 is not in the range"),
        (("--minutes", "0"), "0 is not in the range"),
        (("--dir", "missing"), "does not exist"),
        (("--dir", "/proc"), "no files can be made in '/proc'"),
        (("--np", "3", "--cells", "lattice"), "cannot be divided among 3 ranks"),
        (("--size", str(1 << 60), "--cells", "tile-8"), "not enough space"),
        (("--from", "junk"), "'junk' cannot be read"),
        (("--json", "junk"), "'junk' cannot be read"),
        (("--json", "missing/out"), "'missing/out' cannot be written"),
        (("--from", "junk", "--json", "out"), "give one of them"),
        (("--from", "junk", "--rounds", "3"), "--rounds has no meaning here, --from measures"),
        (("--markdown", "junk"), "'junk' is left as it is"),
        (("--markdown", "missing/page.md"), "'missing/page.md' cannot be written"),
        (("--figure", "missing/x"), "'missing/x.svg' cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    bench: Command, arguments: tuple[str, ...], why: str
) -> None:
    (bench.directory / "junk").write_text("{")
    result = bench("bench", "peers", "--mpi", "mpich", "--np", "2", "--dir", ".", *arguments)
    assert result.returncode != 0
    errors = [line for line in result.stderr.splitlines() if not line.startswith("headrace: files")]
    assert len(errors) == 1 and why in errors[0], result.stderr
    assert [path.name for path in bench.directory.iterdir()] == ["junk"]
    assert (bench.directory / "junk").read_text() == "{"


def test_of_an_earlier_run_only_what_is_named_is_shown(bench: Command, tmp_path: Path) -> None:
    tile, call = Point("tile-1000", 2, "mpich", "/memory"), Point("tile-8", 4, "openmpi", "/disk")
    save(made_results(*((point, [made_attempt(point)]) for point in (tile, call))), tmp_path / "r")
    titles = {"MPICH": tile, "Open MPI": call}
    for flags, point in (
        (("--cells", "tile-1000"), tile),
        (("-n", "4"), call),
        (("--mpi", "mpich"), tile),
        (("--dir", "/"), None),
        (("--mpi", "intel"), None),
        (("--cells", "tile-8", "-n", "2"), None),
    ):
        shown = bench("bench", "peers", "--from", "r", *flags)
        if point is None:
            assert shown.returncode == 2 and "'r' has nothing of that" in shown.stderr
            continue
        assert shown.returncode == 0, shown.stderr
        table = shown.stdout[shown.stdout.index("Every cell") :]
        assert {titles[title] for title in titles if title in table} == {point}, shown.stdout
