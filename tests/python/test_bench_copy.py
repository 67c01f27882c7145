"""`headrace bench copy`: all ways that the processor has, over all jobs; bad input in one line."""

import re
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import Command

FAST = ("-i", "2", "--time", "0.001")


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def jobs_of(text: str) -> dict[str, list[str]]:
    """By heading and job, the ways that were measured."""
    jobs: dict[str, list[str]] = {}
    heading = job = ""
    for line in text.splitlines():
        if line.startswith("== "):
            heading = line[3:]
        elif line.startswith(("pieces of", "one stretch")):
            job = f"{heading}: {line}"
        elif match := re.match(r"  (\S.*?) +[\d.]+ GiB/s", line):
            jobs.setdefault(job, []).append(match[1])
    return jobs


def test_every_job_is_measured_beside_what_headrace_does(bench: Command) -> None:
    done = bench("bench", "copy", "--", *FAST, "--dir", bench.directory)
    assert done.returncode == 0, done.stderr
    jobs = jobs_of(done.stdout)
    assert len(jobs) == 2 * (5 + 8 + 8) + 2 * (1 + 8)
    for ways in jobs.values():
        assert ways[:2] == ["view::copy", "memcpy"]
    assert list(bench.directory.iterdir()) == []


def test_lengths_can_be_chosen(bench: Command) -> None:
    done = bench("bench", "copy", "--", *FAST, "--lengths", "20,72")
    assert done.returncode == 0, done.stderr
    assert len(jobs_of(done.stdout)) == 2 * 2 * 2
    assert "pieces of 72 B, strided to contiguous" in done.stdout


@pytest.mark.parametrize(
    ("flags", "code", "text"),
    [
        (("--dir", "nowhere"), 1, "no file can be made in 'nowhere' (No such file or directory)"),
        (("--dir", "/dev/full"), 1, "no file can be made in '/dev/full'"),
        (("--rounds", "0"), 2, "--rounds must be a number from 1 on"),
        (("--time", "-1"), 2, "--time must be a positive number"),
        (("--lengths", "8,,9"), 2, "--lengths must be numbers from 1 to 65536"),
        (("--lengths", "65537"), 2, "--lengths must be numbers from 1 to 65536"),
        (("file",), 2, "an argument is no option"),
    ],
)
def test_bad_input_is_told(bench: Command, flags: tuple[str, ...], code: int, text: str) -> None:
    done = bench("bench", "copy", "--", *flags)
    assert done.returncode == code
    assert text in done.stderr
    assert "== " not in done.stdout
