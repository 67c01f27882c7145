"""Runs the command in a fork of a process that has imported it already: most of the time that a
short command takes goes into that. Each has a process of its own all the same."""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LARGEST_REQUEST = 1 << 16
# What the interpreter or the loader has read before it is forked.
READ_AT_START = ("PYTHON", "LD_", "LANG", "LC_", "GLIBC_", "MALLOC_", "COV_")


class Forking:
    """A process that forks for each command, started when the first is asked for."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen | None = None
        self._environ: dict[str, str] = {}

    def can(self, environ: dict[str, str]) -> bool:
        """Whether a process that starts with these variables would be the same."""
        if self._socket is None:
            self._start(environ)
        return _read_at_start(environ) == self._environ

    def run(
        self, words: Sequence[str], environ: dict[str, str], directory: Path
    ) -> subprocess.CompletedProcess[str] | None:
        """None: the request is too large."""
        text = json.dumps([list(words), environ, str(directory)]).encode()
        if len(text) > LARGEST_REQUEST or self._socket is None:
            return None
        pipes = [os.pipe(), os.pipe()]
        socket.send_fds(self._socket, [text], [end for _, end in pipes])
        for _, end in pipes:
            os.close(end)
        with ThreadPoolExecutor(2) as readers:
            out, err = readers.map(_all_of, [end for end, _ in pipes])
        answer = self._socket.recv(64)
        if not answer:
            self._socket = None
            raise RuntimeError(f"the process that forks has ended: {err}")
        return subprocess.CompletedProcess(list(words), int(answer), out, err)

    def _start(self, environ: dict[str, str]) -> None:
        self._environ = _read_at_start(environ)
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Pipes as its children have: what was opened on others would be another kind of file.
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(other.fileno())],
            env=environ | {"OPENBLAS_NUM_THREADS": "1"},  # a process that forks has one thread
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[other.fileno()],
        )
        other.close()


def _read_at_start(environ: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in environ.items() if name.startswith(READ_AT_START)}


def _all_of(end: int) -> str:
    with open(end) as stream:
        return stream.read()


def _serve(asked: socket.socket) -> None:
    """Returns in each child, and where nobody asks any more ends the process."""
    while True:
        text, ends, _, _ = socket.recv_fds(asked, 2 * LARGEST_REQUEST, 2)
        if not text:
            sys.exit()
        words, environ, directory = json.loads(text)
        child = os.fork()
        if child == 0:
            break
        for end in ends:
            os.close(end)
        _, status = os.waitpid(child, 0)
        asked.send(str(os.waitstatus_to_exitcode(status)).encode())
    asked.close()
    for place, end in enumerate(ends, start=1):
        os.dup2(end, place)
        os.close(end)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(directory)
    sys.argv[1:] = words


def _import_all() -> None:
    commands = importlib.import_module("headrace.commands")
    for module in pkgutil.iter_modules(commands.__path__, "headrace.commands."):
        importlib.import_module(module.name)


def _run_command() -> None:
    try:
        importlib.import_module("headrace.cli").main()
    except SystemExit as end:
        if isinstance(end.code, int) and threading.active_count() == 1:
            # Without taking all modules apart, which would copy their memory.
            sys.stdout.flush()
            sys.stderr.flush()
            atexit._run_exitfuncs()
            os._exit(end.code & 0xFF)
        raise


if __name__ == "__main__":
    _import_all()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    _run_command()
