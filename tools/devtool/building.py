"""Configures and builds build/release with the CMake and Ninja of .dev/venv."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtool import debian, provision
from devtool.failure import Failure
from devtool.lock import exclusive
from devtool.paths import LIBRARY, RELEASE, VENV, shown
from devtool.provision import Layer
from devtool.steps import Step, fresh_log, run_logged, run_steps

PROGRAMS = ("headrace_programs",)
TESTS = ("headrace_programs", "headrace_tests")
COMPILE_HINT = "fix the first error above it"


def tool_environment() -> dict[str, str]:
    """Environment in which the tools of .dev/venv come first."""
    return {"PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}


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
        steps = provision.pending(layers)
        fresh = not (RELEASE / "build.ninja").exists()
        if steps or fresh:
            debian.ensure(needs)
        if targets and (configure or fresh or steps):
            steps.append(_configure_step())
        if targets and (configure or fresh or steps or not _up_to_date(targets)):
            steps.append(_build_step(targets))
        run_steps(steps)
    if targets and not LIBRARY.exists():
        raise Failure(
            f"{shown(LIBRARY)} was not built",
            "CMake did not find the headers of all three MPI ABIs",
            "remove build/release and .dev/mpi and start again",
        )


def _configure_step() -> Step:
    log = fresh_log("configure")
    command: list[str | Path] = [VENV / "bin" / "cmake", "--preset", "release"]

    def configure() -> None:
        run_logged(command, log, "see what CMake says above", tool_environment())

    return Step("configuring build/release", configure, log)


def _build_step(targets: Sequence[str]) -> Step:
    log = fresh_log("build")

    def build() -> None:
        command = [VENV / "bin" / "ninja", "-C", RELEASE, *targets]
        run_logged(command, log, COMPILE_HINT, tool_environment())

    what = "libheadrace.so, the benchmark programs"
    what += " and the tests" if "headrace_tests" in targets else ""
    return Step(f"building {what}", build, log)


def _up_to_date(targets: Sequence[str]) -> bool:
    """Asks Ninja without building; a failed question counts as no."""
    command = [VENV / "bin" / "ninja", "-C", RELEASE, "-n", *targets]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    return asked.returncode == 0 and "no work to do" in asked.stdout
