"""The jobs that are compared, and how each way of doing them is told to its program."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace.errors import HeadraceError

PLAIN = "plain"
HEADRACE = "headrace"
SEED_SEGMENTS = 3220
SIGNATURE = 1234567


@dataclass(frozen=True)
class Way:
    """One way to do a job. label: for people; flags: the program's; preload: with Headrace."""

    key: str
    label: str
    flags: tuple[str, ...] = ()
    preload: bool = False


@dataclass(frozen=True)
class Job:
    """A job: its program, ranks, flags and ways. `line` shows it to people.

    largest_file: bytes of the file it makes, 0 where the flags given make it unknown.
    """

    key: str
    title: str
    line: str
    program: str
    ranks: int
    flags: tuple[str, ...]
    ways: tuple[Way, ...]
    accesses: tuple[str, ...]
    largest_file: int = 0

    def arguments(self, way: Way, file: Path, summary: Path, keep: bool) -> list[str]:
        """The program's arguments to do it once."""
        report = (
            ["-O", "summaryFormat=JSON", "-O", f"summaryFile={summary}"]
            if self.program == "ior"
            else ["--json", str(summary)]
        )
        return [*way.flags, *self.flags, "-o", str(file), *report, *(["-k"] if keep else [])]


@dataclass
class Measurement:
    """What one run of a program found: by access ("write", "read") MiB/s and the file's hints.

    wrong: bytes or values that were not as written; overwritten: bytes of others that changed.
    """

    bandwidth: dict[str, float] = field(default_factory=dict)
    hints: dict[str, dict[str, str]] = field(default_factory=dict)
    wrong: int = 0
    overwritten: int = 0

    @property
    def is_right(self) -> bool:
        return self.wrong == 0 and self.overwritten == 0


def ior_job(
    ranks: int, extra: Sequence[str] = (), segments: int = SEED_SEGMENTS, block: int = 100_000
) -> Job:
    """The seeds' IOR job: one collective call for each 10,000 bytes. Each file is read back by
    the neighbour and every byte checked. POSIX goes without -e, as MPI-IO does not sync either."""
    sizes = {"-s": str(segments), "-b": str(block), "-t": "10000"}
    size = [word for pair in sizes.items() if pair[0] not in extra for word in pair]
    common = ("-w", "-r", "-R", "-C", "-g", "-G", str(SIGNATURE), *size, *extra)
    collective = ("-a", "MPIIO", "-c")
    return Job(
        "ior",
        "IOR, many small collective calls",
        " ".join(["ior -a MPIIO -w -r -c -C -g", *size, *extra]),
        "ior",
        ranks,
        common,
        (
            Way(PLAIN, "plain MPI", collective),
            Way("posix", "POSIX", ("-a", "POSIX")),
            Way(HEADRACE, "Headrace", collective, preload=True),
        ),
        ("write", "read"),
        0 if extra else segments * block * ranks,
    )


def lattice_job(
    ranks: int, extra: Sequence[str] = (), dims: tuple[int, int, int, int] = (32, 16, 16, 32)
) -> Job:
    """A lattice-QCD field, one collective call through a hindexed view, beside rank 0 alone."""
    size = () if "--dims" in extra else ("--dims", ",".join(map(str, dims)))
    volume = dims[0] * dims[1] * dims[2] * dims[3]
    return Job(
        "lattice",
        "4-D lattice field, one hindexed view",
        " ".join(["lattice", *size, "-w", "-r", *extra]),
        "lattice",
        ranks,
        ("-w", "-r", *size, *extra),
        (
            Way(PLAIN, "plain MPI", ("--way", "mpiio")),
            Way("rank0", "through rank 0", ("--way", "rank0")),
            Way(HEADRACE, "Headrace", ("--way", "mpiio"), preload=True),
        ),
        ("write", "read"),
        0 if extra else volume * 576,
    )


def strided_job(ranks: int, extra: Sequence[str] = ()) -> Job:
    """512-byte blocks, one in 4096 bytes, into a 128 MiB file that holds others' data."""
    return Job(
        "strided",
        "strided collective write into a filled file",
        " ".join(["strided -b 512 --stride 4096 --size 128m", *extra]),
        "strided",
        ranks,
        ("-b", "512", "--stride", "4096", "--size", "128m", *extra),
        (
            Way(PLAIN, "plain MPI", ("--way", "mpiio")),
            Way("posix", "POSIX", ("--way", "posix")),
            Way(HEADRACE, "Headrace", ("--way", "mpiio"), preload=True),
        ),
        ("write",),
        0 if extra else 128 << 20,
    )


def overlap_job(ranks: int, extra: Sequence[str] = ()) -> Job:
    """Nonblocking transfers of 64 MiB a rank, as long as the computing beside them; bandwidths
    are those of both together."""
    return Job(
        "overlap",
        "nonblocking transfers while the program computes",
        " ".join(["overlap -w -r --size 64m", *extra]),
        "overlap",
        ranks,
        ("-w", "-r", "--size", "64m", "-i", "3", *extra),
        (
            Way(PLAIN, "plain MPI"),
            Way(HEADRACE, "Headrace", preload=True),
        ),
        ("write", "read"),
        0 if extra else ranks * (64 << 20),
    )


JOBS = {"ior": ior_job, "lattice": lattice_job, "overlap": overlap_job, "strided": strided_job}


def read_measurement(job: Job, summary: Path) -> Measurement:
    """Reads what the program wrote; bandwidths of repetitions are averaged over their times."""
    try:
        document = json.loads(summary.read_text())
    except (OSError, ValueError) as error:
        raise HeadraceError(
            f"the results of {job.program} in '{summary}' cannot be read",
            str(error),
            "run it by hand with 'headrace bench'",
        ) from error
    test = document["tests"][0] if job.program == "ior" else document
    result = Measurement(
        wrong=test.get("wrongBytes", 0),
        overwritten=test.get("overwrittenBytes", 0),
    )
    rows = test.get("Results", test.get("results", []))
    for access in job.accesses:
        matching = [row for row in rows if row["access"] == access]
        if not matching:
            continue
        seconds = sum(row["totalTime"] for row in matching)
        result.bandwidth[access] = sum(row["bytes"] for row in matching) / seconds / 2**20
        result.hints[access] = matching[-1]["hintsBeforeClose"]
    return result
