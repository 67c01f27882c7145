"""libstdc++'s demangler, in a child process: there are names of 27 bytes for which it never ends,
and names of a hundred for which it takes gigabytes."""

import atexit
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from typing import BinaryIO

LONGEST = 4096  # of a name
LONGEST_ANSWER = 8192
SECONDS = 1.0  # of one name
MOST_MEMORY = 64 << 20  # that one name may take
PATIENCE = 10.0  # s, until the child answers, its start included
USUAL = 0.01  # s; a name that takes longer is a rare one
MOST_SECONDS = 20.0  # of all rare names, before no further one is asked
_CHILD = (
    "import sys; sys.path[:] = sys.argv[1:]; from headrace.symbols.demangler import serve; serve()"
)


def demangled(name: str) -> str | None:
    """What a name of C++ stands for; None where that is not known, or would take too much."""
    return _child.ask(name) if len(name) <= LONGEST else None


@cache
def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL] | None:
    """libstdc++, which programs in C++ bring along, and the C library."""
    try:
        cxx, c = ctypes.CDLL("libstdc++.so.6"), ctypes.CDLL(None)
        cxx.__cxa_demangle.restype = ctypes.c_void_p
        cxx.__cxa_demangle.argtypes = [
            *(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        ]
        c.free.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return None
    return cxx, c


def here(name: str) -> str | None:
    libraries = _libraries()
    if libraries is None:
        return None
    cxx, c = libraries
    made = cxx.__cxa_demangle(
        name.encode("utf-8", "replace"), None, None, ctypes.byref(ctypes.c_int())
    )
    if not made:
        return None
    try:
        answer = ctypes.string_at(made)
    except MemoryError:
        return None
    finally:
        c.free(made)
    return answer.decode("utf-8", "backslashreplace") if len(answer) <= LONGEST_ANSWER else None


def serve() -> None:
    """The child: for each line, a name in hexadecimal, one with what it stands for, or nothing. A
    name that takes too long ends the child, by the default action of the alarm."""
    _libraries()
    with open("/proc/self/statm", "rb") as stream:
        pages = int(stream.read().split()[0])
    most = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        made = here(bytes.fromhex(line.decode()).decode())
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.write((made or "").encode().hex() + "\n")
        sys.stdout.flush()


class _Child:
    """One at a time, begun when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._seconds = 0.0

    def ask(self, name: str) -> str | None:
        with self._lock:
            if self._seconds >= MOST_SECONDS:
                return None
            begin = time.monotonic()
            try:
                return self._answer(name.encode("utf-8", "replace"))
            except (OSError, ValueError):
                self.end()
                return None
            finally:
                self._seconds += max(0.0, time.monotonic() - begin - USUAL)

    def _answer(self, name: bytes) -> str | None:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _CHILD, *sys.path], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            )  # fmt: skip
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(name.hex().encode() + b"\n")
        answer = bytes.fromhex(_line(self._process.stdout).decode())
        return answer.decode("utf-8", "backslashreplace") or None

    def end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        process.wait()


def _line(stream: BinaryIO) -> bytes:
    """Raises OSError if there is none in time."""
    until, got = time.monotonic() + PATIENCE, b""
    while not got.endswith(b"\n"):
        left = max(0.0, until - time.monotonic())
        part = b""
        if select.select([stream], [], [], left)[0]:
            part = os.read(stream.fileno(), 2 * LONGEST_ANSWER)
        if not part:
            raise OSError("the demangler ended")
        got += part
    return got


_child = _Child()
atexit.register(_child.end)
