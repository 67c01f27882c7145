"""Steps shown with their number and time, and commands whose output goes to a log."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devtool.failure import Failure
from devtool.paths import LOGS, ROOT

NINJA_PROGRESS = re.compile(rb"\[(\d+/\d+)\][^\[]*$")


@dataclass(frozen=True)
class Step:
    """One thing to do, named by a participle: "building libheadrace.so"."""

    title: str
    action: Callable[[], None]
    log: Path | None = None
    delay: float = 0  # seconds before it is shown at all, for what is mostly done already


def run_steps(steps: Sequence[Step]) -> None:
    """Runs them in order; progress goes to stderr, since stdout belongs to what ./dev runs."""
    for number, step in enumerate(steps, start=1):
        with _Line(f"[{number}/{len(steps)}] {step.title}", step):
            step.action()


def run_logged(
    command: Sequence[str | Path],
    log: Path,
    action: str,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Appends the command's output to `log`; a failure says what to do (`action`).

    Errors: Failure when the program is missing or ends with another code than 0.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in command]
    with log.open("ab") as output:
        output.write(f"$ {' '.join(words)}\n".encode())
        output.flush()
        try:
            done = subprocess.run(
                words,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                check=False,
            )
        except OSError as error:
            raise Failure(f"cannot run {words[0]}", error.strerror or "unknown", action) from error
    if done.returncode != 0:
        name = Path(words[0]).name
        raise Failure(f"{name} failed", f"exit code {done.returncode}", action, log)


def fresh_log(name: str) -> Path:
    """An empty .dev/log/NAME.log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    log.write_bytes(b"")
    return log


class _Line:
    """A line of progress: on a terminal it counts the seconds, elsewhere it is written once."""

    def __init__(self, text: str, step: Step) -> None:
        self._text = text
        self._step = step
        self._begin = time.monotonic()
        self._shown = False
        self._done = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> None:
        self._begin = time.monotonic()
        if not self._step.delay:
            self._show()
        self._ticker.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._done.set()
        self._ticker.join()
        if kind is not None and not self._shown:
            self._show()
        if self._shown:
            self._rewrite("" if kind is None else " failed")
            print(file=sys.stderr, flush=True)

    def _show(self) -> None:
        self._shown = True
        print(f"{self._text} ...", end="", file=sys.stderr, flush=True)

    def _seconds(self) -> str:
        return f"{time.monotonic() - self._begin:.0f} s"

    def _rewrite(self, end: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{self._text} ... {self._seconds()}{end}", end="", file=sys.stderr)
        else:
            print(f" {self._seconds()}{end}", end="", file=sys.stderr)
        sys.stderr.flush()

    def _tick(self) -> None:
        if self._done.wait(self._step.delay or 0.5):
            return
        if not self._shown:
            self._show()
        while sys.stderr.isatty() and not self._done.wait(0.5):
            part = self._ninja_progress()
            self._rewrite(f" ({part})" if part else "")

    def _ninja_progress(self) -> str:
        path = self._step.log
        if path is None or not path.exists():
            return ""
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - 2000))
            found = NINJA_PROGRESS.search(log.read())
        return found.group(1).decode() if found else ""
