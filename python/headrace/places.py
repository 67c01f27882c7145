"""Where this package lies, folders for everybody, and files that are written as a whole."""

import errno
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

PACKAGE_DIRECTORY = Path(__file__).resolve().parent


def checkout_directory() -> Path | None:
    """The source tree this package runs from, or None when it is installed."""
    root = PACKAGE_DIRECTORY.parent.parent
    return root if (root / "CMakeLists.txt").is_file() else None


def make_public_directory(folder: Path) -> None:
    """Makes a folder, and those above it that are missing, whatever the umask says: everybody can
    read them, and nobody else can write. Errors: OSError."""
    missing = [one for one in (folder, *folder.parents) if not os.path.exists(one)]
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        one.chmod(0o755)


def visible_in(folder: Path, ending: str = "") -> list[Path]:
    """What a directory has with this ending, but for what begins with a dot, sorted; nothing where
    it cannot be read."""
    try:
        names = sorted(os.listdir(folder), key=os.fsencode)
    except OSError:
        return []
    return [folder / name for name in names if name.endswith(ending) and not name.startswith(".")]


# Bytes that are tried before the work: more than a quota or a disk rounds away.
TRIED_BYTES = 64 << 10
# A name beside another one must not be too long where that one just fits.
LONGEST_NAME = 200


def write_whole(path: Path, text: str, mode: int | None = None, lasting: bool = True) -> None:
    """Writes a file that is there as a whole or not at all; a pipe, a device or what is open under
    a number, as /dev/stdout, is simply written to. mode: of the file, whatever the umask says;
    without one a file keeps what it has. lasting: also after a crash of the machine, for which it
    waits. Errors: OSError."""
    if (number := _descriptor(path)) is not None:
        _write_open(number, text)
        return
    if _is_special(path):
        path.write_text(text, encoding="utf-8")
        return
    path = _at_end_of_links(path)
    if mode is None and path.exists():
        mode = path.stat().st_mode & 0o777
    data = text.encode(errors="surrogateescape")
    try:
        _write_beside(path, data, mode, lasting)
        _beside(path).replace(path)
    except BaseException:
        _remove(_beside(path))
        raise


def try_whole(path: Path, makes_folders: bool = False) -> None:
    """Whether write_whole() can write a file, as far as it can be told before the work: so much is
    written beside it. Nothing of it stays. makes_folders: the missing ones above it are made before
    it is written, so it is tried above those. Errors: OSError."""
    if _descriptor(path) is not None or _is_special(path):
        return
    path = _at_end_of_links(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    folders = path.parents if makes_folders else [path.parent]
    folder = next((one for one in folders if os.path.exists(one)), path.parent)
    tried = folder / path.name
    with suppress(FileNotFoundError):
        tried.lstat()  # its name may be too long
    try:
        _write_beside(tried, bytes(TRIED_BYTES), None, lasting=True)
    finally:
        _remove(_beside(tried))


def _descriptor(path: Path) -> int | None:
    """Of a name that is that of an open file: to replace what it leads to would lose what else is
    written there."""
    found = re.fullmatch(r"/dev/std(out|err)|(?:/dev|/proc/self)/fd/([0-9]{1,9})", str(path))
    if found is None:
        return None
    return int(found[2]) if found[2] else {"out": 1, "err": 2}[found[1]]


def _write_open(number: int, text: str) -> None:
    """Behind what was written there before."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with open(os.dup(number), "w", encoding="utf-8") as stream:
        stream.write(text)


def _is_special(path: Path) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _at_end_of_links(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _beside(path: Path) -> Path:
    name = os.fsdecode(os.fsencode(path.name)[:LONGEST_NAME])
    return path.with_name(f".{name}.{os.getpid()}")


def _write_beside(path: Path, data: bytes, mode: int | None, lasting: bool) -> None:
    beside = _beside(path)
    _remove(beside)  # of a process that had our number, and was killed
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(beside, flags, 0o666 if mode is None else mode), "wb") as stream:
        if mode is not None:
            os.fchmod(stream.fileno(), mode)
        stream.write(data)
        stream.flush()
        if lasting:
            os.fsync(stream.fileno())


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
