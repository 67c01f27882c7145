"""One measurement at a time goes into a file of results: two would replace each other's rounds."""

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from headrace.errors import HeadraceError, unwritable


@contextmanager
def held(path: Path | None) -> Iterator[None]:
    """Holds the file of results during the block, by a lock on a file beside it."""
    if path is None:
        yield
        return
    place = path.resolve()
    lock = place.with_name(f".{place.name}.lock")
    try:
        holder = _locked(lock, place)
    except OSError as error:
        raise unwritable(path, error) from error
    with holder:
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _locked(lock: Path, place: Path) -> IO[str]:
    while True:
        holder = lock.open("a+")
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            with holder:
                raise _is_held(holder, place) from error
        except OSError:  # not all file systems have such locks
            return holder
        if _is_there(lock, holder):
            break
        holder.close()  # who held it has removed it meanwhile
    holder.truncate(0)
    holder.write(f"process {os.getpid()} on {platform.node()}\n")
    holder.flush()
    return holder


def _is_there(lock: Path, holder: IO[str]) -> bool:
    try:
        return os.path.samestat(lock.stat(), os.fstat(holder.fileno()))
    except FileNotFoundError:
        return False


def _is_held(holder: IO[str], place: Path) -> HeadraceError:
    holder.seek(0)
    return HeadraceError(
        f"'{place}' is being measured into",
        f"by {holder.read().strip() or 'another command'}",
        "wait for its end, or give another name to --json",
    )
