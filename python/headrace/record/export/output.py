"""Where exports go: nothing that is there is written over."""

from pathlib import Path

from headrace.errors import HeadraceError, unwritable


def new_file(path: Path) -> None:
    """Makes an empty file, or raises HeadraceError."""
    try:
        path.open("xb").close()
    except FileExistsError as error:
        raise HeadraceError(
            f"'{path}' is not written over", "it is there already", "give another name", 1
        ) from error
    except OSError as error:
        raise unwritable(path, error) from error


def new_files(folder: Path, names: list[str]) -> list[Path]:
    """Makes a folder, if it is not there, and empty files in it."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error, "give a directory that can be made") from error
    made = [folder / name for name in names]
    for path in made:
        if path.exists():
            raise HeadraceError(
                f"'{path}' is not written over", "it is there already", "give another directory", 1
            )
    for path in made:
        new_file(path)
    return made
