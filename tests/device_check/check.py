"""Buffers in the memory of a real device, given to every function of files, under each MPI.

Runs beside what pack.py packed, on a machine with a driver, and needs nothing but Python 3.8:

    python3 check.py [--driver cuda] [--report FILE]

Prints a line for each case, and ends with 1 where one is wrong. FILE becomes a page of Markdown.
"""

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 240  # seconds for a case that hangs; all take a few

Mpi = namedtuple("Mpi", "name title folder launcher environment")
Case = namedtuple("Case", "mpi program mode ranks")
Outcome = namedtuple("Outcome", "case code text cases wrong")

MODES = (("files", "all"), ("files", "mixed"), ("files", "converted"), ("faults", "late"))
MEANINGS = {
    "all": "every function, device memory of each kind",
    "mixed": "device memory on every other rank of a call",
    "converted": "in `external32`",
    "late": "the driver is loaded when the file is open already",
}


def mpis(root):
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    open_mpi = ["mpirun", "--bind-to", "none", "--oversubscribe"]
    intel = {"I_MPI_ROOT": str(root / "intel"), "FI_PROVIDER": "tcp", "I_MPI_FABRICS": "shm"}
    return (
        Mpi("mpich", "MPICH 5", "mpich", ["mpiexec"], {}),
        Mpi("mpich-abi", "MPICH 5, standard ABI", "mpich", ["mpiexec"], {}),
        Mpi("openmpi", "Open MPI 5", "openmpi", open_mpi, as_root),
        Mpi("intel", "Intel MPI", "intel", ["mpiexec.hydra"], intel),
    )


def environment_of(mpi, root):
    home = root / mpi.folder
    libraries = [home / "lib", home / "lib" / "mpich", home / "lib" / "openmpi"]
    paths = [str(path) for path in libraries] + [os.environ.get("LD_LIBRARY_PATH", "")]
    own = {
        "PATH": "{}:{}".format(home / "bin", os.environ["PATH"]),
        "LD_LIBRARY_PATH": ":".join(path for path in paths if path),
    }
    return {**os.environ, **own, **mpi.environment}


def launch(root, mpi, ranks, words, layered):
    """The exit code and what was printed."""
    home = root / mpi.folder
    launcher = [str(home / "bin" / mpi.launcher[0]), *mpi.launcher[1:]]
    variables = ["HEADRACE_QUIET=1"]
    if layered:
        variables.append("LD_PRELOAD={}".format(root / "libheadrace.so"))
    command = launcher + ["-n", str(ranks), "env"] + variables + [str(word) for word in words]
    try:
        done = subprocess.run(
            command,
            env=environment_of(mpi, root),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired as ended:
        return 124, f"hangs: ended after {LIMIT} s\n{ended.output}"
    return done.returncode, done.stdout.decode(errors="replace")


def carry_out(root, case, driver, layered):
    with tempfile.TemporaryDirectory(prefix="device-check-") as directory:
        program = root / "bin" / f"device_{case.program}-{case.mpi.name}"
        words = [program, directory, driver, case.mode]
        code, text = launch(root, case.mpi, case.ranks, words, layered)
    found = re.search(r"^(\d+) cases, (\d+) wrong$", text, re.MULTILINE)
    cases, wrong = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
    return Outcome(case, code, text, cases, wrong)


def is_right(outcome):
    return outcome.code == 0 and outcome.cases > 0 and outcome.wrong == 0


def plain_says(outcome):
    """What became of it without Headrace, in a few words."""
    if is_right(outcome):
        return "right"
    if outcome.cases:
        return "errors, or wrong data"
    if re.search(r"segmentation|SIGSEGV|signal 11|Signal: 11", outcome.text, re.IGNORECASE):
        return "SIGSEGV"
    return f"exit code {outcome.code}"


def measure(root, mpi, driver, mebibytes, times, file):
    """Medians of seconds: writing as it is and by hand, reading as it is and by hand."""
    words = [root / "bin" / f"device_speed-{mpi.name}", file, driver, mebibytes, times]
    code, text = launch(root, mpi, 1, words, True)
    rows = [
        [float(word) for word in line.split()[1:]]
        for line in text.splitlines()
        if line.startswith("seconds:")
    ]
    if code != 0 or not rows:
        return None
    return [statistics.median(column) for column in zip(*rows)]  # noqa: B905, Python 3.8


def device_name():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return "a device whose name is not known"
    name, _, version = said.splitlines()[0].partition(", ")
    return f"{name}, driver {version}"


def page(outcomes, plain, speeds):
    lines = [
        "# Buffers in the memory of a real device",
        "",
        "    ./dev device-check",
        "",
        f"This is what it found on {device_name()} (Linux {platform.release()}).",
        "The MPIs are PyPI's wheels, which were built without support for devices. Each case",
        "writes from a buffer, compares the file with what it must be, reads back, and compares",
        "the buffer and its holes. The programs are `tests/mpi/programs/device_*.c`.",
        "",
        "| MPI | case | ranks | without Headrace | with Headrace |",
        "|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        case = outcome.case
        verdict = "{} cases, {}".format(
            outcome.cases, "all right" if is_right(outcome) else "NOT RIGHT"
        )
        without = plain_says(plain[case.mpi.name, case.mode])
        lines.append(
            f"| {case.mpi.title} | {MEANINGS[case.mode]} | {case.ranks} | {without} | {verdict} |"
        )
    lines += [
        "",
        "## How fast",
        "",
        "One rank, a file in memory (`/dev/shm`), seconds, medians of alternating calls. By hand",
        "means: the program copies all data to host memory of its own (`cuMemcpyDtoH`) and writes",
        "that.",
        "",
        "| MPI | MiB | write: as it is | by hand | read: as it is | by hand |",
        "|---|---|---|---|---|---|",
    ]
    for title, mebibytes, medians in speeds:
        cells = [f"{value:.4f}" for value in medians] if medians else ["-"] * 4
        lines.append("| {} | {} | {} |".format(title, mebibytes, " | ".join(cells)))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="cuda", help="the vendor's: cuda, hip, level_zero")
    parser.add_argument("--report", type=Path, help="write a page of Markdown to this file")
    parser.add_argument("--no-speed", action="store_true", help="measure nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="device-check-") as unpacked:
        with tarfile.open(str(HERE / "parts.tar.xz")) as parts:
            parts.extractall(unpacked)
        return check(Path(unpacked), options)


def check(root, options):
    outcomes, plain, speeds = [], {}, []
    for mpi in mpis(root):
        for program, mode in MODES:
            for ranks in (1, 2) if mode == "all" else (2,):
                case = Case(mpi, program, mode, ranks)
                outcome = carry_out(root, case, options.driver, True)
                outcomes.append(outcome)
                print(mpi.name, mode, ranks, "right" if is_right(outcome) else "WRONG", flush=True)
                if not is_right(outcome):
                    print(outcome.text[-3000:], flush=True)
            plain[mpi.name, mode] = carry_out(root, case, options.driver, False)
    for mpi in () if options.no_speed else mpis(root):
        for mebibytes, times in ((1, 31), (64, 15), (1024, 7)):
            with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
                medians = measure(root, mpi, options.driver, mebibytes, times, file.name)
            speeds.append((mpi.title, mebibytes, medians))
            print(mpi.name, mebibytes, "MiB:", medians, flush=True)
    if options.report:
        options.report.write_text(page(outcomes, plain, speeds))
    wrong = [outcome for outcome in outcomes if not is_right(outcome)]
    print(f"{len(wrong)} of {len(outcomes)} cases are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
