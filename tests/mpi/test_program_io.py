"""Files that a program uses without MPI: what is recorded of them is what it did."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host, host_named
from running import PROGRAMS, compile_program, launch, shared_object, work_directory
from test_languages import FORTRAN, PYTHON, fortran_program
from test_recorder import report_of

COLUMNS = ("opens", "reads", "writes", "bytes_read", "bytes_written", "seeks")
LAYERS = ("posix", "stdio")


def c_program(host: Host) -> Path:
    return compile_program(
        [*host.compilers["c"], "-lrt"], ["program_io.c"], f"program-io-{host.name}"
    )


def recorded(directory: Path, **settings: str) -> dict[str, str]:
    return {
        "HEADRACE_RECORD": "1",
        "HEADRACE_RECORD_FILES": "1",
        "HEADRACE_LOGPATH": str(directory / "records"),
        **settings,
    }


def io_in(directory: Path) -> dict:
    (record,) = (directory / "records").glob("*.hrc")
    return report_of(record)["io"]


def files_below(directory: Path, io: dict) -> dict[str, dict]:
    """By name in the directory."""
    beginning = f"{directory}/"
    return {
        one["name"].removeprefix(beginning): one
        for one in io["files"]
        if one["name"].startswith(beginning)
    }


def used(directory: Path, io: dict) -> dict[tuple[str, str], list[int]]:
    """The columns by name and layer."""
    return {
        (name, layer): [one[layer][column] for column in COLUMNS]
        for name, one in files_below(directory, io).items()
        for layer in LAYERS
        if one[layer] is not None
    }


def tallied(directory: Path) -> dict[tuple[str, str], list[int]]:
    """What the program says that it did."""
    found: dict[tuple[str, str], list[int]] = {}
    for tally in directory.glob("tally.*"):
        for line in tally.read_text().splitlines():
            name, layer, *numbers = line.split()
            found[name.removeprefix(f"{directory}/"), layer] = [int(one) for one in numbers]
    return found


def run_c(host: Host, ranks: int, label: str, *words: str, **settings: str) -> Path:
    directory = work_directory(f"program-io-{label}-{host.name}-{ranks}")
    for rank in range(ranks):
        (directory / f"rank-{rank}" / "many").mkdir(parents=True)
    line = [c_program(host), directory, *words]
    done = launch(host, ranks, line, True, recorded(directory, **settings))
    assert done.code == 0, done.explain()
    return directory


def test_another_tool_sees_what_it_saw(host: Host, library: Path) -> None:
    """One that wraps write, too, before the layer or behind it: each call is counted once."""
    tool = shared_object("writing_tool.c", ["gcc", "-ldl"])
    seen = []
    for number, objects in enumerate(([tool], [tool, library], [library, tool])):
        directory = work_directory(f"program-io-tool-{number}-{host.name}")
        (directory / "rank-0").mkdir()
        environment = recorded(directory) | {"WRITING_TOOL": str(directory / "told")}
        line = [c_program(host), directory]
        done = launch(host, 1, line, True, environment, objects=objects)
        assert done.code == 0, done.explain()
        seen.append(int((directory / "told").read_text()))
        if len(objects) == 1:
            continue
        found, tally = used(directory, io_in(directory)), tallied(directory)
        assert {key: found.get(key) for key in tally} == tally
    # The program's, and some of the MPI library's, of which there may be more or fewer.
    assert min(seen) > 100, seen


@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_counts_are_exact(host: Host, library: Path, ranks: int) -> None:
    directory = run_c(host, ranks, "exact")
    io = io_in(directory)
    found = used(directory, io)
    tally = tallied(directory)
    assert len(tally) == 18 * ranks
    assert {key: found.get(key) for key in tally} == tally
    files = files_below(directory, io)
    for rank in range(ranks):
        plain = files[f"rank-{rank}/plain"]
        assert plain["mpi"] is None and plain["ranks"] == 1
        assert plain["opens"] == 1 and plain["store_bytes_written"] == plain["bytes_written"]
        posix = plain["posix"]
        assert posix["write_bins"] == [10, 0, 2, 0, 0, 0, 0, 0, 0, 0]
        assert (posix["sequential_writes"], posix["consecutive_writes"]) == (11, 10)
        assert (posix["sequential_reads"], posix["consecutive_reads"]) == (2, 1)
        assert posix["furthest_written"] == (1 << 20) + 8192
        assert posix["furthest_read"] == 8192 and posix["syncs"] == 1
        assert posix["unaligned"] == 10 + 1
        assert plain["seconds"] > 0
        mapped = files[f"rank-{rank}/from"]["posix"]
        assert (mapped["maps"], mapped["mapped_bytes"]) == (1, 4096)
        (unnamed,) = (
            one for name, one in files.items() if "\n" in name and f"rank-{rank}/" in name
        )
        assert unnamed["posix"]["bytes_written"] == 2 * 19
    flow = io["flow"]
    assert flow["written"]["posix_bytes"] >= sum(
        row[4] for (_, at), row in tally.items() if at == "posix"
    )
    for direction in ("read", "written"):
        assert flow[direction]["other_bytes"] >= 15 * ranks
        assert 0 < flow[direction]["seen_share"] <= 1
    # The program writes all of its bytes by calls that are seen.
    assert flow["written"]["seen_share"] > 0.8


def test_each_feature_can_be_switched_off(host: Host, library: Path) -> None:
    directory = run_c(host, 2, "off", HEADRACE_RECORD_FILES="0")
    io = io_in(directory)
    assert not io["files"] and io["flow"]["written"]["posix_bytes"] == 0
    directory = run_c(host, 1, "none", HEADRACE_RECORD="0")
    assert not (directory / "records").exists()


def test_more_files_than_there_is_room_for(host: Host, library: Path) -> None:
    count = 3000
    directory = run_c(host, 2, "many", str(count))
    files = files_below(directory, io_in(directory))
    for rank in range(2):
        own = [one for name, one in files.items() if name.startswith(f"rank-{rank}/many/")]
        assert sum(one["posix"]["opens"] for one in own) == count
        assert sum(one["posix"]["bytes_written"] for one in own) == 10 * count
        assert files[f"rank-{rank}/many/*"]["posix"]["opens"] > count - 1200
        assert len(own) < 1200


def test_names_are_left_out(host: Host, library: Path) -> None:
    directory = run_c(host, 1, "hashed", HEADRACE_RECORD_NAMES="hashed")
    (record,) = (directory / "records").glob("*.hrc")
    assert str(directory).encode() not in record.read_bytes()
    assert any(one["name"].startswith("file-") for one in report_of(record)["io"]["files"])
    directory = run_c(host, 1, "unnamed", HEADRACE_RECORD_NAMES="none")
    names = {one["name"] for one in io_in(directory)["files"]}
    assert names == {"(files)"}


def test_streams_of_cpp(host: Host, library: Path) -> None:
    compiler = [*host.compilers["c"], "-lstdc++"]
    program = compile_program(compiler, ["program_io.cc"], f"program-io-cpp-{host.name}", ["-O1"])
    directory = work_directory(f"program-io-cpp-{host.name}")
    done = launch(host, 1, [program, directory], True, recorded(directory))
    assert done.code == 0 and not done.out.strip(), done.explain()
    file = files_below(directory, io_in(directory))["file"]
    assert file["stdio"]["opens"] == 2
    assert file["posix"]["bytes_written"] == 500005
    assert file["posix"]["bytes_read"] == 500000
    assert file["stdio"]["bytes_written"] == file["stdio"]["bytes_read"] == 0


@pytest.mark.parametrize(
    ("host", "binding"), FORTRAN, ids=[f"{host.name}-{binding}" for host, binding in FORTRAN]
)
def test_fortran(host: Host, binding: str, library: Path) -> None:
    host, program = fortran_program(host.name, binding, "program_io.F90")
    directory = work_directory(f"program-io-fortran-{host.name}-{binding}")
    done = launch(host, 1, [program, directory], True, recorded(directory))
    assert done.code == 0 and not done.out.strip(), done.explain()
    files = files_below(directory, io_in(directory))
    unformatted, formatted = files["unformatted"]["posix"], files["formatted"]["posix"]
    assert unformatted["opens"] == 2
    assert (unformatted["bytes_written"], unformatted["bytes_read"]) == (160000, 160000)
    assert (formatted["opens"], formatted["bytes_written"]) == (1, 9000)


@pytest.mark.parametrize("host", PYTHON, ids=[host.name for host in PYTHON])
def test_python(host: Host, library: Path) -> None:
    if host.missing:
        absent(host.missing)
    directory = work_directory(f"program-io-python-{host.name}")
    line = [host.python, "-u", PROGRAMS / "program_io.py", directory]
    done = launch(host, 1, line, True, recorded(directory))
    assert done.code == 0, done.explain()
    io = io_in(directory)
    assert not any("__pycache__" in one["name"] for one in io["files"])
    files = files_below(directory, io)
    moved = {
        name: (one["posix"]["bytes_written"], one["posix"]["bytes_read"])
        for name, one in files.items()
    }
    assert moved == {
        "text": (8000, 8000),
        "binary": (40960, 40960),
        "copy": (40960, 0),
        "os": (5, 3),
        "after": (5, 0),
    }
    assert files["binary"]["posix"]["write_bins"][2] == 10
    assert files["binary"]["posix"]["consecutive_writes"] == 9


# Calls as strace -y shows them: the descriptor's file is behind its number.
TRACED = re.compile(r"^(?:\d+ )?(\w+)\((\d+)<([^>]*)>.*\) += (\d+)$")


def traced(log: Path) -> Counter[tuple[str, str]]:
    """Bytes by file and direction."""
    found: Counter[tuple[str, str]] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        match = TRACED.match(line)
        if match is None:
            continue
        call, _, name, result = match.groups()
        direction = "bytes_read" if "read" in call else "bytes_written"
        found[name, direction] += int(result)
    return found


def test_bytes_are_those_of_strace(host: Host, library: Path) -> None:
    """The kernel's view of the same run: of what is written by descriptors each byte is there."""
    if shutil.which("strace") is None:
        absent("strace is not installed")
    directory = work_directory(f"program-io-strace-{host.name}")
    (directory / "rank-0" / "many").mkdir(parents=True)
    log = directory / "strace"
    calls = "read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2"
    tracer = ["strace", "-y", "-e", f"trace={calls}", "-e", "signal=none", "-o", log]
    line = [*tracer, c_program(host), directory]
    done = launch(host, 1, line, True, recorded(directory))
    if "ptrace" in done.err.lower():
        pytest.skip("strace may not trace here")
    assert done.code == 0, done.explain()
    seen = traced(log)
    files = files_below(directory, io_in(directory))
    for name in ("plain", "vectors", "shared", "appended", "handler", "before", "behind", "quiet"):
        own = files[f"rank-0/{name}"]["posix"]
        for direction in ("bytes_read", "bytes_written"):
            assert own[direction] == seen[f"{directory}/rank-0/{name}", direction], (
                name,
                direction,
            )


HDF5 = {"debian-mpich": "mpich", "debian-openmpi": "openmpi"}


def hdf5(kind: str) -> list[str]:
    """Debian's HDF5 for this MPI, as a compiler wants it."""
    headers = Path(f"/usr/include/hdf5/{kind}")
    libraries = sorted(Path("/usr/lib").glob(f"*/hdf5/{kind}"))
    if not headers.exists() or not libraries:
        absent(f"there is no HDF5 for {kind}")
    return [f"-I{headers}", f"-L{libraries[0]}", "-lhdf5"]


@pytest.mark.parametrize("name", HDF5)
def test_hdf5(name: str, library: Path) -> None:
    """What HDF5 writes by itself is the program's POSIX I/O; what it writes by MPI-IO is not."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    flags = hdf5(HDF5[name])
    compiler = [*host.compilers["c"], *flags]
    program = compile_program(compiler, ["program_hdf5.c"], f"program-hdf5-{host.name}", ["-O1"])
    directory = work_directory(f"program-io-hdf5-{host.name}")
    done = launch(host, 1, [program, directory], True, recorded(directory))
    assert done.code == 0, done.explain()
    files = files_below(directory, io_in(directory))
    by_posix, by_mpi = files["by-posix.h5"], files["by-mpi.h5"]
    assert by_posix["mpi"] is None and by_mpi["posix"] is by_mpi["stdio"] is None
    size = (directory / "by-posix.h5").stat().st_size
    assert by_posix["posix"]["furthest_written"] == size
    assert 800_000 <= by_posix["bytes_written"] <= 800_000 + 10_000
    assert by_posix["posix"]["write_bins"][4] == 1
    assert 800_000 <= by_mpi["mpi"]["bytes_written"] <= 800_000 + 10_000
