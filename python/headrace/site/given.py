"""What a site gives its users: read from its module files, and whether users can read it."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.launch.preload import LIBRARY_NAME
from headrace.places import visible_in

# In Lua `append_path("NAME", "value")`, in Tcl `append-path NAME value`. No value has a blank.
BETWEEN = r"""[\s"'(,]+"""
VALUE = r"""([^\s"'),]+)"""
PRELOAD = re.compile(rf"^\s*(?:append|prepend)[_-]path{BETWEEN}LD_PRELOAD{BETWEEN}{VALUE}", re.M)
SITE = re.compile(rf"^\s*setenv{BETWEEN}HEADRACE_SITE{BETWEEN}{VALUE}", re.M)
OTHERS_READ, OTHERS_SEARCH = 0o4, 0o1


@dataclass(frozen=True)
class Given:
    """What jobs get. module: the file that says so, None without one. library: what is preloaded;
    settings: what HEADRACE_SITE names, None if it names nothing."""

    module: Path | None
    library: Path
    settings: Path | None


def read_modules(prefix: Path) -> list[Given]:
    """What each module file of a site sets, by the files' names. Errors: HeadraceError if there is
    none, or one that does not preload Headrace."""
    folder = prefix / "modulefiles" / "headrace"
    files = [path for path in visible_in(folder) if os.path.isfile(path)]
    if not files:
        raise HeadraceError(
            f"'{prefix}' is no site's folder",
            f"there is no module file in {folder}",
            f"type headrace site init {prefix} first",
        )
    return [_read_module(path) for path in files]


def _read_module(path: Path) -> Given:
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise HeadraceError(
            f"'{path}' cannot be read", error.strerror or str(error), "let everybody read it"
        ) from error
    libraries = [name for name in PRELOAD.findall(text) if Path(name).name == LIBRARY_NAME]
    if not libraries:
        raise HeadraceError(
            f"'{path}' does not turn Headrace on",
            f"it adds no {LIBRARY_NAME} to LD_PRELOAD",
            "run headrace site init anew, or mend it",
        )
    settings = SITE.findall(text)
    return Given(path, Path(libraries[-1]), Path(settings[-1]) if settings else None)


def unreadable(given: Given) -> Iterator[str]:
    """A line on each file that users need and that only its owner, or a group, can read."""
    files = [given.module, given.library, given.settings]
    if given.settings is not None:
        files += visible_in(given.settings.parent / "profiles", ".toml")
    for path in files:
        if path is not None and (why := _why_not_for_all(path)):
            yield why


def _why_not_for_all(path: Path) -> str:
    """Nothing of what is not there."""
    for one in (path.resolve(), *path.resolve().parents):
        try:
            mode = one.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except PermissionError:
            continue  # a directory above it says why
        if not mode & (OTHERS_READ if one == path.resolve() else OTHERS_SEARCH):
            right = "o+r" if one == path.resolve() else "o+rx"
            what = f"'{one}' has mode {mode & 0o7777:04o}"
            return (
                f"not all users can read '{path}' ({what}), let its owner type chmod {right} {one}"
            )
    return ""
