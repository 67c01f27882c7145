"""Configures and builds build/release with the CMake and Ninja of .dev/venv."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from devtool import debian, provision
from devtool.failure import Failure
from devtool.lock import exclusive
from devtool.paths import LIBRARY, RELEASE, ROOT, VENV, shown
from devtool.provision import Layer
from devtool.steps import Step, fresh_log, run_logged, run_steps

PROGRAMS = ("headrace_programs",)
TESTS = ("headrace_programs", "headrace_tests")
COMPILE_HINT = "fix the first error above it"


def tool_environment() -> dict[str, str]:
    """Environment in which the tools of .dev/venv come first, and daemons are found."""
    return {"PATH": f"{VENV / 'bin'}{os.pathsep}{debian.search_path()}"}


def prepare(
    layers: Sequence[Layer] = provision.BUILD,
    needs: Sequence[debian.Need] = debian.BUILD,
    targets: Sequence[str] = PROGRAMS,
    configure: bool = True,
) -> None:
    """Brings everything `targets` need up to date; says nothing when there is nothing to do.

    Without `configure` an existing build tree is trusted (Ninja reconfigures when a CMake file has
    changed); with it a package that was installed since is found.
    Errors: Failure.
    """
    with exclusive():
        remove_if_moved(RELEASE)
        steps = provision.pending(layers)
        fresh = not (RELEASE / "build.ninja").exists()
        if steps or (targets and fresh):
            debian.ensure(needs)
        if targets and (configure or fresh or steps):
            steps.append(_configure_step("headrace_tests" in targets))
        if targets:
            steps.append(_build_step(targets, delay=0 if configure or steps else 1))
        run_steps(steps)
    if targets and not LIBRARY.exists():
        raise Failure(
            f"{shown(LIBRARY)} was not built",
            "CMake did not find the headers of all three MPI ABIs",
            "remove build/release and .dev/mpi and start again",
        )


def remove_if_moved(folder: Path) -> None:
    """Removes a build that was configured in another checkout, of which this one is a copy: CMake
    takes no such build."""
    source = _cached(folder, "CMAKE_HOME_DIRECTORY")
    if source and Path(source).resolve() != ROOT:
        shutil.rmtree(folder)


def _cached(folder: Path, name: str) -> str:
    """What CMakeCache.txt has under this name, "" if nothing."""
    try:
        text = (folder / "CMakeCache.txt").read_text(errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


def _starts_anew(folder: Path) -> bool:
    """Whether CMake has to forget what it found: after a failure, or for another compiler."""
    cached = _cached(folder, "CMAKE_CXX_COMPILER")
    if not cached:
        return False
    wanted = shutil.which(debian.compiler()[0]) if os.environ.get("CXX") else cached
    return not (folder / "build.ninja").exists() or cached not in (wanted, debian.compiler()[0])


def _configure_step(with_tests: bool) -> Step:
    log = fresh_log("configure")
    # A user's compiler may know warnings that ours does not; CI's is ours.
    warnings = f"-DHEADRACE_WERROR={'ON' if os.environ.get('CI') else 'OFF'}"
    tests = f"-DHEADRACE_REQUIRE_TESTS={'ON' if with_tests else 'OFF'}"
    command: list[str | Path] = [VENV / "bin" / "cmake", "--preset", "release", warnings, tests]
    if _starts_anew(RELEASE):
        command.append("--fresh")

    def configure() -> None:
        run_logged(command, log, "see what CMake says above", tool_environment())

    return Step("configuring build/release", configure, log)


def _build_step(targets: Sequence[str], delay: float) -> Step:
    log = fresh_log("build")

    def build() -> None:
        command = [VENV / "bin" / "ninja", "-C", RELEASE, *targets]
        run_logged(command, log, COMPILE_HINT, tool_environment())

    what = "libheadrace.so, the benchmark programs"
    what += " and the tests" if "headrace_tests" in targets else ""
    return Step(f"building {what}", build, log, delay)
