"""Directories for benchmark files that are gone when the command ends, also on Ctrl-C."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from headrace import machine
from headrace.errors import HeadraceError

Handler = Callable[[int, FrameType | None], None]


@contextmanager
def workspace(directory: Path) -> Iterator[Path]:
    """A new directory inside `directory`, removed with all it holds at the end of the block; an
    end by SIGTERM or SIGHUP, too."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="headrace-", dir=directory)
    except OSError as error:
        raise HeadraceError(
            f"no files can be made in '{directory}'",
            error.strerror or str(error),
            "name another directory with --dir",
        ) from error
    with ended_in_order(), folder as name:
        yield Path(name)


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
