"""A Darshan log's file -> its values. PyDarshan calls a library in C, which a garbled log may make
crash, hang or ask for all memory. So a child process calls it, within limits, and its answer is
checked."""

import importlib.util
import json
import os
import stat
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from headrace.darshan.log import Impossible, Log, checked
from headrace.errors import HeadraceError

ENDING = ".darshan"
LEAST_SECONDS = 60
BYTES_A_SECOND = 100_000  # of a log: a tenth of what the slowest ones took
LARGEST = 1 << 30  # bytes of a log, and of what the child tells of it
INSTALL = "pip install 'headrace[darshan]'"

_FRONT = struct.Struct("8sq")  # of a log: version, and a number that all logs have
_NUMBER = 6567223
# The child has this process' module path, and never the working directory's modules.
_CHILD = (
    "import sys; path = sys.argv[1]; sys.path[:] = sys.argv[2:]; "
    "from headrace.darshan.child import serve; serve(path)"
)


def is_log(path: Path) -> bool:
    """By its name or its first bytes. Nothing that cannot be read is one."""
    if path.name.endswith(ENDING):
        return True
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            front = stream.read(_FRONT.size)
    except (OSError, ValueError):
        return False
    number = front[8 : _FRONT.size]
    return _NUMBER in (int.from_bytes(number, order) for order in ("little", "big"))


def read(path: Path) -> Log:
    """Raises HeadraceError. Of a log that was cut off, or that is damaged in parts, what can be
    read, and what it lacks."""
    size = _size(path)
    if importlib.util.find_spec("darshan") is None:
        raise HeadraceError(
            f"'{path}' cannot be read", "the Python package 'darshan' is not installed", INSTALL, 1
        )
    found = _ask(path, LEAST_SECONDS + size / BYTES_A_SECOND)
    if "refused" in found:
        raise _damaged(path, str(found["refused"]))
    try:
        return checked(path, found)
    except Impossible as error:
        raise _damaged(path, str(error)) from error


def _size(path: Path) -> int:
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise HeadraceError(f"'{path}' cannot be read", why, "check its name", 1) from error
    if not stat.S_ISREG(status.st_mode):
        raise HeadraceError(
            f"'{path}' is no Darshan log", "it is no file", f"give a file that ends in {ENDING}", 1
        )
    if status.st_size > LARGEST:
        raise HeadraceError(
            f"'{path}' is not read",
            f"it has {status.st_size} bytes, and {LARGEST} are the most",
            "make a log without traces (DXT)",
            1,
        )
    return status.st_size


def _ask(path: Path, limit: float) -> dict[str, Any]:
    """The child's answer. limit: seconds."""
    line = [sys.executable, "-c", _CHILD, os.path.abspath(path), *sys.path]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        try:
            done = subprocess.run(
                line, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, timeout=limit,
                check=False, shell=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise _damaged(path, f"reading it took longer than {limit:.0f} s") from error
        except OSError as error:
            raise _damaged(path, error.strerror or str(error)) from error
        if done.returncode:
            raise _damaged(path, f"PyDarshan ended with {_ended(done.returncode, errors)}")
        if out.tell() > LARGEST or os.fstat(out.fileno()).st_size > LARGEST:
            raise _damaged(path, "it has too many records")
        out.seek(0)
        try:
            found = json.load(out)
        except (ValueError, RecursionError) as error:
            raise _damaged(path, "PyDarshan's answer cannot be read") from error
    if not isinstance(found, dict):
        raise _damaged(path, "PyDarshan's answer cannot be read")
    return found


def _ended(code: int, errors: Any) -> str:
    if code < 0:
        return f"signal {-code}"
    errors.seek(0)
    lines = errors.read(1 << 16).decode("utf-8", "backslashreplace").splitlines()
    return f"code {code}" + (f": {lines[-1].strip()}" if lines else "")


def _damaged(path: Path, why: str) -> HeadraceError:
    plain = "".join(one if one.isprintable() else " " for one in why)[:400]
    return HeadraceError(
        f"'{path}' is no Darshan log that can be read",
        plain,
        "check that it is whole, and that 'darshan-parser' reads it",
        1,
    )
