"""The commands of ./dev; each takes its words and returns the exit code."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from devtool import (
    building,
    clusterfs,
    conformance,
    costs,
    debian,
    device_check,
    groups,
    package,
    placement,
    provision,
    sizes,
    style,
    testing,
    tiers,
)
from devtool.lock import exclusive
from devtool.paths import BUILD, DEV, LIBRARY, PYTHON_PACKAGE, RELEASE, ROOT, VENV, shown
from devtool.prepared import asks_for_help

# What tests/count/compare.py ends with where baseline and build cannot be compared.
NOT_COMPARED = 77


def setup(arguments: Sequence[str]) -> int:
    """Installs what building needs into .dev; with --all also what the tests need."""
    parser = _parser("setup", setup)
    parser.add_argument("--all", action="store_true", help="also what ./dev test needs")
    everything = parser.parse_args(arguments).all
    layers = [*provision.BUILD]
    needs = [*debian.BUILD]
    if everything:
        layers += [provision.TEST_TOOLS, *groups.ALL_MPI]
        needs += [need for group in groups.GROUPS for need in group.needs]
    debian.ensure(needs)
    building.prepare(layers, needs, targets=())
    print(f"{shown(DEV)} is ready")
    return 0


def build(arguments: Sequence[str]) -> int:
    """Builds libheadrace.so and the benchmark programs into build/release."""
    parser = _parser("build", build)
    parser.add_argument("--tests", action="store_true", help="also the C++ tests")
    parser.add_argument("--sizes", action="store_true", help="write docs/measurements/size.md")
    options = parser.parse_args(arguments)
    with_tests = options.tests
    needs = debian.UNIT_TESTS if with_tests else debian.BUILD
    debian.ensure(needs)
    building.prepare(targets=building.TESTS if with_tests else building.PROGRAMS)
    print(shown(LIBRARY))
    if options.sizes:
        sizes.write()
        print(shown(sizes.PAGE))
    return 0


def test(arguments: Sequence[str]) -> int:
    """Installs what the tests need and runs them; words after -- go to pytest."""
    names = [group.name for group in groups.GROUPS]
    parser = _parser("test", test)
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument(
        "--quick",
        action="store_true",
        help=f"some of each: {tiers.minutes('quick')} minutes on two cores, once built",
    )
    how_much.add_argument("--full", action="store_true", help="everything")
    how_much.add_argument(
        "--minutes",
        type=int,
        metavar="N",
        help="after the usual ones, of --full as much as is known to end within N minutes",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="GROUP",
        help=f"this group; may be repeated: {', '.join(names)}",
    )
    parser.add_argument(
        "--write-costs",
        action="store_true",
        help="write docs/test-costs.md; with --only the columns of those groups",
    )
    parser.add_argument(
        "--count-rows",
        action="store_true",
        help="run nothing, and write there how many rows each test has",
    )
    arguments, extra = _split(arguments)
    options = parser.parse_args(arguments)
    if options.count_rows:
        building.prepare([*provision.BUILD, provision.TEST_TOOLS], targets=())
        costs.count_rows()
        return 0
    if options.write_costs and (options.minutes or extra):
        parser.error("--write-costs needs whole groups: leave out --minutes and words after --")
    chosen = [group for group in groups.GROUPS if group.name in (options.only or names)]
    tier = "quick" if options.quick else "full" if options.full else "default"
    plan = testing.Plan(tier, options.minutes, tuple(extra), options.write_costs)
    return testing.run(chosen, plan)


def conform(arguments: Sequence[str]) -> int:
    """Runs other people's tests with and without the layer; takes an hour. --suite, --mpi."""
    return conformance.run(arguments)


def cluster_file_systems(arguments: Sequence[str]) -> int:
    """Jobs of several emulated nodes on CephFS and GlusterFS; by hand, as root (hours)."""
    return clusterfs.run(arguments)


def time_placement(arguments: Sequence[str]) -> int:
    """Jobs on emulated nodes in several rank orders: bytes and times; by hand, as root."""
    return placement.run(arguments)


def check_device(arguments: Sequence[str]) -> int:
    """Device buffers with a real driver, here or (--pack) on a machine without network."""
    return device_check.run(arguments)


def faults(arguments: Sequence[str]) -> int:
    """Plants faults in a copy of the engine; random runs must find each (20 minutes)."""
    if not asks_for_help(arguments):
        debian.ensure(debian.UNIT_TESTS)
        building.prepare(targets=())
    script = ROOT / "tests" / "fuzz" / "faults" / "run.py"
    command = [sys.executable, script, "--cmake", VENV / "bin" / "cmake", *arguments]
    environment = os.environ | building.tool_environment()
    return subprocess.run(command, env=environment, check=False).returncode


# A part of `--scarce`, of seconds: writes fail while memory lacks.
SCARCE = ("--scarce", "4", "--seed", "802322", "--part", "25")


def inject(arguments: Sequence[str]) -> int:
    """Lets disk, memory and threads fail under the engine: 50,000 random faults (an hour)."""
    parser = _parser("inject", inject)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--each", action="store_true", help="at every operation in turn instead")
    ways.add_argument(
        "--scarce",
        type=int,
        default=0,
        metavar="PROGRAMS",
        help="instead let writes fail while memory lacks from each allocation on, in so many "
        "random programs; without it a part of that runs first",
    )
    parser.add_argument("--count", type=int, default=50_000, help="of random faults (50,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the first random program")
    parser.add_argument("--seconds", type=int, default=0, help="begin nothing new after so long")
    parser.add_argument("--state", default="", help="a file, to go on where the last run stopped")
    options = parser.parse_args(arguments)
    debian.ensure(debian.UNIT_TESTS)
    building.prepare(targets=building.TESTS)
    command = [RELEASE / "tests" / "faults" / "faults", "--jobs", str(os.cpu_count() or 1)]
    command += ["--seconds", str(options.seconds)]
    state = ["--state", options.state]
    seed = ["--seed", str(options.seed)]
    if options.each:
        return subprocess.run([*command, "--each", *state], check=False).returncode
    if options.scarce > 0:
        scan = ["--scarce", str(options.scarce), *seed]
        return subprocess.run([*command, *scan, *state], check=False).returncode
    scanned = subprocess.run([*command, *SCARCE], check=False).returncode
    random = ["--random", str(options.count), *seed]
    return subprocess.run([*command, *random, *state], check=False).returncode or scanned


def sanitize(arguments: Sequence[str]) -> int:
    """Unit tests, simulation and injected faults under address, undefined and thread sanitizers."""
    parser = _parser("sanitize", sanitize)
    parser.add_argument("--only", choices=("sanitize", "sanitize-thread"), help="one preset")
    parser.add_argument("--tests", default=".", metavar="REGEX", help="of these names (all)")
    options = parser.parse_args(arguments)
    debian.ensure(debian.UNIT_TESTS)
    building.prepare(targets=())
    status = 0
    # A race ends its program, as what the others find does: then its fuzzer knows the sequence.
    thread = f"halt_on_error=1:suppressions='{ROOT}/tests/thread_sanitizer.txt'"
    environment = {"TSAN_OPTIONS": thread} | os.environ | building.tool_environment()
    # Counts of operations and instructions are those of an ordinary build.
    kinds = ("-L", "^(unit|sim)$", "-E", "^count")
    for preset in (options.only,) if options.only else ("sanitize", "sanitize-thread"):
        folder = BUILD / preset
        building.remove_if_moved(folder)
        ctest = (VENV / "bin" / "ctest", "--no-tests=error", "--test-dir")
        for command in (
            [VENV / "bin" / "cmake", "--preset", preset, "-DHEADRACE_REQUIRE_TESTS=ON"],
            [VENV / "bin" / "cmake", "--build", folder, "--target", "headrace_tests"],
            [*ctest, folder, *kinds, "-R", options.tests, "--output-on-failure"],
        ):
            code = subprocess.run([str(word) for word in command], env=environment, cwd=ROOT)
            status = status or code.returncode
            if code.returncode != 0:
                break
    return status


def count(arguments: Sequence[str]) -> int:
    """Counts what fixed cases cost and compares; --record: writes the baselines anew."""
    parser = _parser("count", count)
    parser.add_argument("--record", action="store_true", help="write tests/count/baseline anew")
    parser.add_argument("--why", default="", help="with --record: why numbers have grown")
    parser.add_argument("--only", choices=("operations", "instructions"), help="only these")
    options = parser.parse_args(arguments)
    debian.ensure(debian.COUNTS)
    building.prepare(targets=building.TESTS)
    folder = ROOT / "tests" / "count"
    status = 0
    for kind in (options.only,) if options.only else ("operations", "instructions"):
        program = RELEASE / "tests" / "count" / f"count_{kind}"
        command = [sys.executable, folder / "compare.py", kind, program]
        command += ["--record", "--why", options.why] if options.record else []
        code = subprocess.run(command, check=False).returncode
        # Not compared for another compiler or C library: said, and no failure.
        status = status or (0 if code == NOT_COMPARED else code)
    return status


def make_packages(arguments: Sequence[str]) -> int:
    """Writes a wheel and an archive for glibc 2.28 and later, and the sources, to dist."""
    _parser("package", make_packages).parse_args(arguments)
    for path in package.build():
        print(f"{shown(path)}  {path.stat().st_size:,} bytes")
    return 0


def demo(arguments: Sequence[str]) -> int:
    """Plain MPI, POSIX and Headrace side by side on this machine; --mpi all: every MPI."""
    every = "all" in arguments or "--mpi=all" in arguments
    layers = [*provision.BUILD, *(provision.WHEELS.values() if every else [])]
    page = ["--page", str(BUILD / "headrace-demo.html")]
    if asks_for_help(arguments):
        return _headrace(["demo", "--help"], [provision.CLI], [debian.VENV], ())
    return _headrace(["demo", *page, *arguments], layers)


def headrace(arguments: Sequence[str]) -> int:
    """Runs the headrace command of this checkout, building what is missing first."""
    return _headrace(arguments, provision.BUILD)


def generate(arguments: Sequence[str]) -> int:
    """Writes the generated files anew; --check: only tells whether they are up to date."""
    parser = _parser("generate", generate)
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.parse_args(arguments)
    return style.generate(arguments)


def format_(arguments: Sequence[str]) -> int:
    """Formats and lints C++ and Python in place; --check: only tells what is to do."""
    parser = _parser("format", format_)
    parser.add_argument("--check", action="store_true", help="change nothing")
    return style.format_files(parser.parse_args(arguments).check)


def lint(arguments: Sequence[str]) -> int:
    """The same as format --check."""
    _parser("lint", lint).parse_args(arguments)
    return style.format_files(check=True)


def clean(arguments: Sequence[str]) -> int:
    """Removes build and dist; with --all also .dev, all that was installed here."""
    parser = _parser("clean", clean)
    parser.add_argument("--all", action="store_true", help="also .dev")
    folders = [BUILD, ROOT / "dist"]
    folders += [DEV] if parser.parse_args(arguments).all else []
    # Nobody else tests, sets up or builds here meanwhile; the locks themselves may go.
    with exclusive("tests.lock"), exclusive():
        for folder in (one for one in folders if one.exists()):
            shutil.rmtree(folder)
    return 0


COMMANDS = {
    "demo": demo,
    "test": test,
    "conformance": conform,
    "device-check": check_device,
    "clusterfs": cluster_file_systems,
    "placement": time_placement,
    "faults": faults,
    "inject": inject,
    "sanitize": sanitize,
    "count": count,
    "headrace": headrace,
    "setup": setup,
    "build": build,
    "package": make_packages,
    "generate": generate,
    "format": format_,
    "lint": lint,
    "clean": clean,
}


def _headrace(
    arguments: Sequence[str],
    layers: Sequence[provision.Layer],
    needs: Sequence[debian.Need] = debian.BUILD,
    targets: Sequence[str] = building.PROGRAMS,
) -> int:
    """Replaces this process, so that signals and the exit code are the command's own."""
    # A checkout of somebody else, or on a read-only mount, is used as it is.
    if os.access(ROOT, os.W_OK) or not (LIBRARY.exists() and VENV.is_dir()):
        building.prepare(layers, needs, targets, configure=False)
    wheels = [str(layer.folder) for layer in provision.WHEELS.values() if layer.folder.is_dir()]
    environment = {
        **os.environ,
        "PYTHONPATH": _joined(str(PYTHON_PACKAGE), os.environ.get("PYTHONPATH", "")),
        # What the user named goes first, then the MPIs this checkout is tested with.
        "HEADRACE_MPI_PATH": _joined(os.environ.get("HEADRACE_MPI_PATH", ""), *wheels),
    }
    python = str(VENV / "bin" / "python")
    sys.stdout.flush()
    os.execve(python, [python, "-m", "headrace", *arguments], environment)


def _joined(*paths: str) -> str:
    return os.pathsep.join(path for path in paths if path)


def _parser(name: str, command: object) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"./dev {name}", description=command.__doc__)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before and after the first --."""
    words = list(arguments)
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
