"""Directories for benchmark files that are gone when the command ends, also on Ctrl-C."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from headrace import machine
from headrace.errors import HeadraceError, say

# To remove a directory, and what passes between them.
TRIES, PAUSE_SECONDS = 10, 0.3
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], None]


@contextmanager
def workspace(directory: Path) -> Iterator[Path]:
    """A new directory inside `directory`, removed with all it holds at the end of the block; an
    end by SIGTERM or SIGHUP, too."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="headrace-", dir=directory))
    except OSError as error:
        raise HeadraceError(
            f"no files can be made in '{directory}'",
            error.strerror or str(error),
            "name another directory with --dir",
        ) from error
    with ended_in_order():
        try:
            yield folder
        finally:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Ranks that are being ended may still have files open, which NFS then keeps, and make others.
    A second Ctrl-C must not leave them."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ENDING}
    try:
        for _ in range(TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.lexists(folder):
                return
            time.sleep(PAUSE_SECONDS)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    why = "something still writes there, or its permissions forbid it"
    say(f"'{folder}' was not removed ({why}), remove it")


@contextmanager
def ended_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does, so that what it has begun is ended, too."""
    with handled_by(_interrupt, signal.SIGTERM, signal.SIGHUP):
        yield


@contextmanager
def handled_by(handler: Handler, *numbers: signal.Signals) -> Iterator[None]:
    """These signals come to `handler` during the block, but those that are ignored, as nohup(1) has
    SIGHUP."""
    taken = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in taken}
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def surroundings(directory: Path) -> str:
    """Where files are made and how busy the machine is, for the head of a report."""
    cores = machine.available_cores()
    load = os.getloadavg()[0]
    busy = f", busy with other work (load {load:.1f}): times are noisy" if load > cores / 2 else ""
    return f"{directory} ({file_system(directory)}), {cores} cores{busy}"


def file_system(directory: Path) -> str:
    """Type of the file system that holds `directory`, as the kernel calls it."""
    return machine.mount_of(directory).kind
