"""Files that commands write: their names, and what they may replace."""

from pathlib import Path

from headrace.errors import HeadraceError, unwritable


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
        "name another file with --output, or remove it",
        1,
    )
