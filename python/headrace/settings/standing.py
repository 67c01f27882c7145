"""The files that count for all jobs, the user's and the site's, by the rules of the library
(src/base/settings_file.cc): it reads them itself, in each rank."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.settings.generated.table import NOT_IN_FILES, SETTINGS
from headrace.settings.layers import Layer, settings_file

OTHERS = stat.S_IWGRP | stat.S_IWOTH
_WHY_NOT = {one.name: NOT_IN_FILES[one.scope] for one in SETTINGS if one.scope}


def standing_layer(name: str, named: bool, whose: str, environ: Mapping[str, str]) -> Layer:
    """The layer of the file `name`, if there is one that only root, this user or the owner of this
    package can have written. Never an error: a job goes on without it. `named`: whether somebody
    asked for this file, so that it must be there. `whose`: for people."""
    if name.startswith("~/"):
        name = environ["HOME"] + name[1:] if environ.get("HOME", "").startswith("/") else ""
    path = Path(name)
    origin = f"{whose} '{path}'"
    try:
        # Does not wait for whoever might write into a pipe of this name.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC) if name else None
    except (OSError, ValueError) as error:
        is_absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        if is_absent and not named:
            return Layer(origin, {}, strict=False, forwarded=False)
        return _refused(origin, getattr(error, "strerror", None) or str(error))
    if descriptor is None:
        return Layer(origin, {}, strict=False, forwarded=False)
    try:
        return _layer(origin, path, descriptor)
    finally:
        os.close(descriptor)


def _layer(origin: str, path: Path, descriptor: int) -> Layer:
    """The layer of an open file: what is checked is what is read."""
    status = os.fstat(descriptor)
    if stat.S_ISCHR(status.st_mode):  # /dev/null has nothing to say
        return Layer(origin, {}, strict=False, forwarded=False)
    if not stat.S_ISREG(status.st_mode):
        return _refused(origin, "it is no file")
    why = _why_not_trusted(status, is_directory=False) or _why_not_trusted(
        path.parent.stat(), is_directory=True
    )
    if why:
        return _refused(origin, why, f"let its owner type chmod go-w {path.parent}")
    try:
        said = settings_file(path, descriptor)
    except HeadraceError as error:
        return Layer(origin, {}, strict=False, forwarded=False, problems=[str(error)])
    # The library takes the hints from the file itself, below those of a file of hints.
    given = {
        key: text for key, text in said.settings.values.items() if text != str(path.absolute())
    }
    values = {key: text for key, text in given.items() if key not in _WHY_NOT}
    problems = [f"{key} is ignored {_WHY_NOT[key]} ('{path}')" for key in given if key in _WHY_NOT]
    problems += [
        f"{one.origin} is ignored (only files of --settings suggest), move it to such a file"
        for one in (said.suggestions, said.variables)
        if one.values
    ]
    return Layer(origin, values, strict=False, forwarded=False, problems=problems)


def _why_not_trusted(status: os.stat_result, is_directory: bool) -> str:
    is_safe = is_directory and status.st_mode & stat.S_ISVTX
    if status.st_mode & OTHERS and not is_safe:
        return f"others may write to {'its directory' if is_directory else 'it'}"
    if status.st_uid in (0, os.geteuid(), Path(__file__).stat().st_uid):
        return ""
    return f"{'its directory' if is_directory else 'it'} belongs to another user"


def _refused(origin: str, why: str, of_directory: str = "") -> Layer:
    remedy = of_directory if "directory" in why else ""
    remedy = remedy or "give a file that you can read and others cannot write"
    line = f"{origin} is ignored ({why}), {remedy}"
    return Layer(origin, {}, strict=False, forwarded=False, problems=[line])
