"""Files that commands write: their names, and what they may replace."""

import sys
from collections.abc import Sequence
from pathlib import Path

from headrace.errors import HeadraceError, unwritable
from headrace.places import try_whole, write_whole

STDOUT = "-"


def named(file: Path) -> Path:
    """The same with a name, after which another file can be called: `.` and `..` have none."""
    return file.resolve() if file.name in ("", "..") else file


def beside(file: Path, ending: str) -> Path:
    """The file of this ending that is called after another."""
    own = named(file)
    return own.parent / f"{own.stem}{ending}"


def refuse_to_replace(target: Path, first_words: str, what: str) -> None:
    """Only what the command has written before, which begins with first_words, is written again: so
    no record, and nothing of the user's, is lost. what: such a file, for people. To be called
    before the work, which may take minutes. Raises HeadraceError."""
    start = first_words.encode()
    try:
        if not target.is_file():
            return
        with target.open("rb") as stream:
            if stream.read(len(start)) in (start, b""):
                return
    except OSError as error:
        raise unwritable(target, error) from error
    raise HeadraceError(
        f"'{target}' is not replaced",
        f"it does not begin as {what} does",
        "name another file, or remove it",
        1,
    )


def require_target(
    path: str | None, first_words: str, what: str, inputs: Sequence[Path] = ()
) -> None:
    """Raises unless write_target() will do: the file can be written, and it replaces nothing but
    what begins with first_words (see refuse_to_replace), and none of `inputs`."""
    if path is None or path == STDOUT:
        return
    file = Path(path)
    try:
        if file.is_file() and any(file.samefile(one) for one in inputs):
            raise HeadraceError(
                f"'{path}' is not replaced", "it is what is read", "name another file", 1
            )
        refuse_to_replace(file, first_words, what)
        try_whole(file)
    except OSError as error:
        raise unwritable(path, error) from error


def write_target(path: str, text: str) -> None:
    """Writes a file that the user named, as a whole; "-" is standard output."""
    try:
        if path == STDOUT:
            sys.stdout.write(text)
        else:
            write_whole(Path(path), text)
    except OSError as error:
        raise unwritable(path, error) from error
