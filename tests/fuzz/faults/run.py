#!/usr/bin/env python3
"""Shows that the nets have no hole: plants each fault in a copy of the engine, and requires that it
is found. Those of this folder random programs must find, those of tests/faults/planted the same
under faults of disk and memory (docs/faults.md), and those of tests/unit/faults the unit tests."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

FAULTS = Path(__file__).resolve().parent
ROOT = FAULTS.parents[2]
INJECTED = ROOT / "tests" / "faults" / "planted"
# In collective operations, and in buffers.
TESTED = ROOT / "tests" / "unit" / "faults"
UNIT_TESTS = [
    path.stem
    for pattern in ("collective_*", "buffering_*", "posix_handler_lock")
    for path in sorted(TESTED.parent.glob(f"{pattern}_test.cc"))
]
UNIT_SECONDS = 300  # for one of them, of seconds: a fault may show by a hang
TREE = ROOT / "build" / "faults" / "tree"
BUILD = ROOT / "build" / "faults" / "build"
# What the targets are made from.
SOURCES = ["CMakeLists.txt", "cmake", "src", "spec", "tests", "tools", "LICENSE", "README.md"]
SECONDS = 900  # for the sequences of one fault
# Seconds for one sequence: many of these faults show by a hang.
LIMIT = ("--limit", "30")
# Half of the sequences each: with few buffers, ranks wait for one another more often.
SETTINGS: tuple[dict[str, str], ...] = ({}, {"HEADRACE_BUFFER_COUNT": "2"})


class Failed(Exception):
    """A fault cannot be tried, or was not found."""


def copy_tree() -> None:
    """Brings the copy up to date; what is the same keeps its time, and so its object."""
    TREE.mkdir(parents=True, exist_ok=True)
    wanted = set()
    for name in SOURCES:
        source = ROOT / name
        paths = [source] if source.is_file() else sorted(source.rglob("*"))
        for path in paths:
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            wanted.add(target := TREE / path.relative_to(ROOT))
            if target.exists() and target.read_bytes() == path.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for path in [path for path in TREE.rglob("*") if path.is_file() and path not in wanted]:
        path.unlink()


def call(what: str, *command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{what}:\n{(done.stdout + done.stderr)[-3000:]}")


def build(cmake: str, *targets: str) -> None:
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DHEADRACE_BENCH=OFF", "-DHEADRACE_WERROR=OFF"]
    options.append("-DHEADRACE_ABI=OFF")
    if ccache := shutil.which("ccache"):
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}")
    if not (BUILD / "build.ninja").exists():
        call("cannot configure", cmake, "-S", TREE, "-B", BUILD, "-G", "Ninja", *options)
    call("cannot be built", cmake, "--build", BUILD, "--target", *targets)


def inject() -> tuple[bool, str]:
    """Whether a run failed while writes and memory failed, and what the injector says."""
    program = BUILD / "tests" / "faults" / "faults"
    said = ""
    for options in (["--regressions"], ["--scarce", "8", "--seed", "802320", "--part", "10"]):
        done = subprocess.run(
            [program, *options],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
        lines = [line for line in done.stdout.splitlines() if not line.startswith(("|", "not "))]
        said += "\n".join(lines) + "\n"
        if done.returncode != 0 and "FAILED: " in done.stdout:
            return True, said[said.index("FAILED: ") :]
    return False, said


def test() -> tuple[bool, str]:
    """Whether a unit test failed or hung, and what it says of the first that did."""
    for name in UNIT_TESTS:
        (program,) = (path for path in BUILD.rglob(name) if path.is_file())
        try:
            done = subprocess.run(
                [program, "--gtest_fail_fast"],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=UNIT_SECONDS,
            )
        except subprocess.TimeoutExpired as hung:
            said = (hung.stdout or b"").decode(errors="replace")
            return True, f"{name} hangs\n{said.splitlines()[-1] if said else ''}"
        if done.returncode != 0:
            failed = re.search(r"\[ +FAILED +\] (\S+)", done.stdout)
            return True, f"{name} fails\n{failed[1] if failed else done.returncode}"
    return False, "all unit tests pass\n"


def search(fault: Path, cmake: str, count: int) -> tuple[bool, str]:
    """Builds what must find a fault, and runs it."""
    if fault.parent == TESTED:
        build(cmake, *UNIT_TESTS)
        return test()
    if fault.parent == INJECTED:
        build(cmake, "faults")
        return inject()
    build(cmake, "fuzz")
    return run(count)


def run(count: int) -> tuple[bool, str]:
    """Whether a sequence failed, and what the fuzzer says."""
    fuzz = BUILD / "tests" / "fuzz" / "fuzz"
    said = ""
    for settings in SETTINGS:
        done = subprocess.run(
            [fuzz, "--seed", "1", "--count", str(count // len(SETTINGS)), "--no-shrink", *LIMIT],
            env=os.environ | {"HEADRACE_QUIET": "1"} | settings,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
        if done.returncode != 0 and "FAILED, seed" in done.stdout:
            return True, done.stdout
        said += done.stdout
    return False, said


def patch(fault: Path, *options: str) -> None:
    call(
        f"{fault.name} does not apply (the engine has changed), plant the fault anew",
        *("patch", "--directory", TREE, "--strip", "1", "--silent", "--force", "--no-backup"),
        *("--reject-file", "-", "--input", fault, *options),
    )


def find(fault: Path, cmake: str, count: int) -> str:
    """Plants a fault and tells how it was found."""
    patch(fault, "--dry-run")
    patch(fault)
    try:
        found, said = search(fault, cmake, count)
    finally:
        patch(fault, "--reverse")
    if not found:
        raise Failed(
            f"not found within {count} sequences, the injector's runs, or unit tests\n{said[-500:]}"
        )
    lines = said.splitlines()
    if fault.parent == TESTED:
        return f"found by a unit test: {' '.join(lines)[:100]}"
    if fault.parent == INJECTED:
        return f"found by the injector: {lines[1].strip()[:100]}"
    number = re.search(r"(\d+) sequences were run", said)
    return f"found by sequence {number[1] if number else '?'}: {lines[1][:100]}"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="of sequences (2000)")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--of", help="only those of this folder, for example tests/unit/faults")
    parser.add_argument("names", nargs="*", help="of faults, or their beginnings; none: all")
    options = parser.parse_args(words)
    faults = sorted(
        path
        for folder in (FAULTS, INJECTED, TESTED)
        for path in folder.glob("*.patch")
        if not options.names or path.name.startswith(tuple(options.names))
        if not options.of or folder == (ROOT / options.of).resolve()
    )
    copy_tree()
    kinds = {fault.parent for fault in faults}
    try:
        if FAULTS in kinds and search(FAULTS / "none", options.cmake, 100)[0]:
            raise Failed("sequences fail without a fault")
        if INJECTED in kinds and search(INJECTED / "none", options.cmake, 0)[0]:
            raise Failed("the injector's runs fail without a fault")
        if TESTED in kinds and search(TESTED / "none", options.cmake, 0)[0]:
            raise Failed("unit tests fail without a fault")
    except Failed as failed:
        print(f"faults: {failed}", file=sys.stderr)
        return 1
    failures = 0
    for fault in faults:
        try:
            print(f"{fault.stem}: {find(fault, options.cmake, options.count)}", flush=True)
        except (Failed, subprocess.TimeoutExpired) as failed:
            failures += 1
            print(f"{fault.stem}: {failed}", flush=True)
    print(f"{len(faults) - failures} of {len(faults)} faults were found")
    return 0 if failures == 0 and faults else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
