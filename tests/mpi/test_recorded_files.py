"""What a record tells of files is what the program itself tallied."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from hosts import Host
from running import compile_program, launch, work_directory
from test_recorder import report_of

COLUMNS = (
    *("opens", "bytes_read", "bytes_written", "reads", "writes"),
    *("collective_reads", "collective_writes"),
)
PHASES = ("exchange_seconds", "wait_seconds", "copy_seconds", "store_seconds")


def build(host: Host) -> str:
    return compile_program(host.compilers["c"], ["recorded_files.c"], f"recorded-f-{host.name}")


def tallied(result: Path) -> dict[str, list[int]]:
    """By file, over all ranks."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * len(COLUMNS))
    for own in result.parent.glob(f"{result.name}.*"):
        for line in own.read_text().splitlines():
            name, *numbers = line.split()
            sums[name] = [a + int(b) for a, b in zip(sums[name], numbers, strict=True)]
    return dict(sums)


def record(host: Host, ranks: int, label: str, **settings: str) -> tuple[Path, str]:
    directory = work_directory(f"recorded-files-{label}-{host.name}-{ranks}")
    given = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory), **settings}
    done = launch(host, ranks, [build(host), directory, directory / "tally"], True, given)
    assert done.code == 0, done.explain()
    return directory, done.err


@pytest.mark.parametrize("ranks", (1, 2, 4))
def test_files_are_exact(host: Host, library: Path, ranks: int) -> None:
    directory, _ = record(host, ranks, "exact")
    (path,) = directory.glob("*.hrc")
    report = report_of(path)
    files = mpi_files(report)
    assert {name: [own[column] for column in COLUMNS] for name, own in files.items()} == tallied(
        directory / "tally"
    )
    contiguous = files[str(directory / "contiguous")]
    assert contiguous["store_bytes_read"] == contiguous["bytes_read"]
    assert contiguous["store_bytes_written"] == contiguous["bytes_written"]
    interleaved = files[str(directory / "interleaved")]
    assert interleaved["store_bytes_written"] == interleaved["bytes_written"]
    assert interleaved["store_bytes_read"] > 0
    for own in files.values():
        assert own["ranks"] == ranks
        assert 0 < own["store_seconds"] <= sum(own[phase] for phase in PHASES) <= own["seconds"]
    subject = f"collective writes to '{directory / 'interleaved'}'"
    made = [own for own in report["decisions"] if own["subject"] == subject]
    assert sum(own["times"] for own in made) == 6 * ranks
    for own in made:
        assert own["choice"] in ("direct", "staged", "exchanged") and own["reason"]
        assert own["cost_seconds"] > 0
    assert all(own["on_node"] == own["size"] for own in communicators(path))


def mpi_files(report: dict) -> dict[str, dict]:
    """Those that were opened by MPI_File_open, by name. The programs have others, too."""
    return {own["name"]: own for own in report["io"]["files"] if own["mpi"]}


def communicators(path: Path) -> list[dict[str, int]]:
    from headrace.record.reader import read

    (node,) = read(path).nodes
    rows = node["communicators"].rows("size", "on_node")
    return [{"size": size, "on_node": on_node} for size, on_node in rows]


def test_the_last_lines(host: Host, library: Path) -> None:
    """Six at most, of which the verdict is the report's."""
    directory, said = record(host, 2, "lines", HEADRACE_QUIET="0")
    (path,) = directory.glob("*.hrc")
    lines = [line for line in said.splitlines() if "headrace:" in line.lower()]
    assert 4 <= len(lines) <= 6, said
    report = report_of(path)
    assert lines[0].endswith(report["verdict"]), (lines, report["verdict"])
    assert sum("rank 0 opened 3 files" in line for line in lines) == 1
    assert any("collective writes to '" in line for line in lines)
    assert str(path) in lines[-1]


def test_without_names(host: Host, library: Path) -> None:
    directory, _ = record(host, 2, "hashed", HEADRACE_RECORD_NAMES="hashed")
    (path,) = directory.glob("*.hrc")
    report = report_of(path)
    names = list(mpi_files(report))
    assert len(names) == 2 and all(name.startswith("file-") for name in names)
    assert str(directory).encode() not in path.read_bytes()
    directory, _ = record(host, 2, "none", HEADRACE_RECORD_NAMES="none")
    (path,) = directory.glob("*.hrc")
    (own,) = report_of(path)["io"]["files"]
    assert own["name"] == "(files)" and own["mpi"]["opens"] == 2 * 3
    assert str(directory).encode() not in path.read_bytes()


def test_settings_have_their_origin(host: Host, library: Path) -> None:
    directory, _ = record(
        host, 1, "settings", HEADRACE_CB_ALIGN="1", ROMIO_HINTS="/dev/null", TOKEN_SECRET="hush"
    )
    (path,) = directory.glob("*.hrc")
    report = report_of(path)
    settings = {own["name"]: (own["value"], own["origin"]) for own in report["settings"]}
    assert settings["HEADRACE_CB_ALIGN"] == ("1", "environment")
    assert settings["HEADRACE_HINTS_FILE"] == ("/dev/null", "ROMIO_HINTS")
    assert settings["HEADRACE_NODE_MEMORY"] == ("64m", "default")
    assert report["run"]["mpi"]
    assert b"hush" not in path.read_bytes()


def test_a_killed_job_leaves_its_files(host: Host, library: Path) -> None:
    directory = work_directory(f"recorded-files-kill-{host.name}")
    images = directory / "images"
    images.mkdir()
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_RECORD_DIRECTORY": str(images),
    }
    line = [build(host), directory, directory / "tally", "kill"]
    result = launch(host, 2, line, True, settings)
    assert result.code != 0, result.explain()
    (job,) = (images / f"headrace-record-{os.geteuid()}").iterdir()
    report = report_of(job)
    files = mpi_files(report)
    opened = files[str(directory / "contiguous")]
    assert opened["opens"] == 2 and opened["bytes_written"] == 2 * (3000 * 4 + 40 + 20)
    assert opened["store_bytes_written"] == opened["bytes_written"]
    closed = files[str(directory / "interleaved")]
    assert closed["opens"] == 4 and closed["bytes_written"] == 2 * 2 * 3 * 3000 * 4
    assert all(own["peak_memory_bytes"] > 0 for own in report["placement"])


def test_what_the_library_moves_is_not_known(host: Host, library: Path) -> None:
    """A file that the MPI library opens itself has no bytes of storage, be it 0. Libraries that
    know no such names refuse it: then there is no file."""
    program = compile_program(host.compilers["c"], ["passed_file.c"], f"passed-f-{host.name}")
    directory = work_directory(f"recorded-files-passed-{host.name}")
    name = f"testfs:{directory / 'file'}"
    given = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    done = launch(host, 2, [program, name], True, given)
    assert done.code in (0, 3), done.explain()
    (path,) = directory.glob("*.hrc")
    report = report_of(path)
    files = mpi_files(report)
    if done.code == 3:
        assert not host.family.startswith("mpich5") and not files
        return
    (own,) = files.values()
    assert own["name"] == name and own["opens"] == 2
    assert own["store_bytes_read"] is None and own["store_bytes_written"] is None
    assert own["bytes_written"] == 2 * 80
    assert (own["writes"], own["collective_writes"], own["reads"]) == (4, 2, 0)
    calls = ("MPI_File_open", "MPI_File_write_at", "MPI_File_write_at_all", "MPI_File_close")
    seconds = {one["name"]: one["seconds"] for one in report["mpi"]["procedures"]}
    assert own["seconds"] == pytest.approx(sum(seconds[call] for call in calls), abs=1e-6)


CALLS = (
    r"  {}: (\d+) collective calls, (\d+) independent ones, (\d+) bytes; {} storage: "
    r"(\d+) requests, (\d+) bytes"
)
REQUESTS = r"    requests: \d+ of (.+), (\d+) smaller, (\d+) not aligned to it, 0 repeated; "


def told(said: str, is_direct: bool = True) -> dict[str, list[int]]:
    """What HEADRACE_IO_STATS printed, by file, over all its closes, as COLUMNS without opens."""
    form = r"I/O of '(.+)': (\d+) ranks? on \d+ nodes?, \d+ of them moved bytes; opened .*"
    found: dict[str, list[int]] = defaultdict(lambda: [0] * 6)
    lines = [line.removeprefix("headrace: ") for line in said.splitlines()]
    for at, line in enumerate(lines):
        head = re.fullmatch(form, line)
        if head is None:
            continue
        group = int(head[2])
        writes = re.match(CALLS.format("writes", "to"), lines[at + 1])
        reads = re.match(CALLS.format("reads", "from"), lines[at + 3])
        collective = [group * int(own[1]) for own in (reads, writes)]
        all_calls = [
            more + int(own[2]) for more, own in zip(collective, (reads, writes), strict=True)
        ]
        numbers = [int(reads[3]), int(writes[3]), *all_calls, *collective]
        found[head[1]] = [a + b for a, b in zip(found[head[1]], numbers, strict=True)]
        if Path(head[1]).name == "contiguous":
            assert writes[5] == writes[3] and reads[5] == reads[3]
            # Of each rank, three writes and two reads of 12000 B and less at multiples of 12000 B,
            # and a read behind the file's end.
            block = os.statvfs(Path(head[1]).parent).f_bsize
            for line, unaligned, small in ((lines[at + 2], 3, 2), (lines[at + 4], 2, 1)):
                found_so = re.match(REQUESTS, line)
                assert found_so is not None, said
                if block == 4096 and is_direct:
                    counts = ("4.0 KiB", str(small * group), str(unaligned * group))
                    assert found_so.groups() == counts, said
    return dict(found)


@pytest.mark.parametrize("recorded", ("0", "1"))
def test_statistics_at_the_close(host: Host, library: Path, recorded: str) -> None:
    ranks = 2
    directory, said = record(
        *(host, ranks, f"stats-{recorded}"),
        HEADRACE_QUIET="0",
        HEADRACE_RECORD=recorded,
        MPICH_MPIIO_STATS="1",
        HEADRACE_IO_TIMERS="1",
    )
    expected = {name: row[1:] for name, row in tallied(directory / "tally").items()}
    assert told(said) == expected, said
    closes = said.count("headrace: I/O of '")
    assert said.count("headrace: times of '") == said.count("    writing ") == closes >= 3
    quiet = launch(host, ranks, [build(host), directory, directory / "tally"], True, {})
    assert "I/O of" not in quiet.err and "times of" not in quiet.err
