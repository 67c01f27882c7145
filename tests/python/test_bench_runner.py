"""How `headrace bench NAME` runs a launcher: its exit code, and what becomes of signals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import ROOT

from headrace.bench.runner import run_shown
from headrace.launch.values import Launch

LAUNCHER = """#!/bin/sh
trap 'echo interrupted >> "$TOLD"; exit 5' INT
trap 'echo terminated >> "$TOLD"; exit 6' TERM
echo started >> "$TOLD"
while :; do sleep 0.05; done
"""

SHOWN = """
import os, sys
from headrace.bench.runner import run_shown
from headrace.launch.values import Launch
try:
    sys.exit(run_shown(Launch([sys.argv[1]], dict(os.environ))))
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_the_exit_code_is_that_of_a_shell() -> None:
    environ = dict(os.environ)
    assert run_shown(Launch(["/bin/sh", "-c", "exit 3"], environ)) == 3
    assert run_shown(Launch(["/bin/sh", "-c", "kill -KILL $$"], environ)) == 137


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "terminated"),
        (signal.SIGHUP, "terminated"),
    ],
)
def test_what_interrupts_us_ends_the_launcher_first(
    tmp_path: Path, number: signal.Signals, told: str
) -> None:
    """Ctrl-C comes to all processes of a terminal, other signals to us alone."""
    launcher, file = tmp_path / "launcher", tmp_path / "told"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", SHOWN, str(launcher)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "TOLD": str(file)},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    ) as child:
        while not file.exists() or not file.read_text():
            assert child.poll() is None
            time.sleep(0.02)
        if number == signal.SIGINT:
            os.killpg(child.pid, number)
        else:
            os.kill(child.pid, number)
        assert child.wait() == 130
    assert file.read_text().split() == ["started", told]
