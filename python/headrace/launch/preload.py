"""Where libheadrace.so is, whether LD_PRELOAD can name it, and whether a program loads it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from headrace.elf.facts import read_facts
from headrace.errors import HeadraceError
from headrace.places import PACKAGE_DIRECTORY, checkout_directory

LIBRARY_NAME = "libheadrace.so"

# Separators and expansion characters of LD_PRELOAD; ld.so has no way to quote them.
UNQUOTABLE = " :\t\n$"


def candidates() -> list[Path]:
    """Places of the library, best first: installed wheel, then the checkout's own builds."""
    places = [PACKAGE_DIRECTORY / "lib" / LIBRARY_NAME]
    root = checkout_directory()
    if root is not None:
        release = root / "build" / "release"
        places += [release / "lib" / LIBRARY_NAME, release / LIBRARY_NAME]
    return places


def find_library(environ: Mapping[str, str]) -> Path:
    """Absolute path of the library to preload. HEADRACE_LIBRARY overrides the search."""
    override = environ.get("HEADRACE_LIBRARY")
    if override:
        path = Path(override).absolute()
        if not path.is_file():
            raise HeadraceError(
                f"HEADRACE_LIBRARY names '{override}'",
                "there is no such file",
                "unset it or give the path of libheadrace.so",
            )
        _refuse_untrusted(path)
    else:
        path = next((place for place in candidates() if place.is_file()), None)
        if path is None:
            raise HeadraceError(
                f"{LIBRARY_NAME} was not found",
                "it is neither installed with this package nor built in this checkout",
                "build it with './dev headrace', reinstall headrace, or set HEADRACE_LIBRARY",
            )
    bad = next((char for char in str(path) if char in UNQUOTABLE), None)
    if bad is not None:
        raise HeadraceError(
            f"'{path}' cannot be preloaded",
            f"LD_PRELOAD cannot hold a path with the character {bad!r}",
            "install headrace in a directory without it, or set HEADRACE_LIBRARY to a copy",
        )
    return path


def library_or_none(environ: Mapping[str, str]) -> Path | None:
    """The library to preload, None if there is none that can be."""
    try:
        return find_library(environ)
    except HeadraceError:
        return None


def _refuse_untrusted(path: Path) -> None:
    """Code of others: whoever can write or replace the library runs as this user."""
    file = path.resolve()
    for place in dict.fromkeys((file, *file.parents, *path.parents)):
        why = _why_not_trusted(place.stat(), "it" if place == file else f"'{place}'")
        if why:
            raise HeadraceError(
                f"'{path}' is not preloaded", why, "give a copy that only you or root can write"
            )


def _why_not_trusted(status: os.stat_result, name: str) -> str:
    """Groups are trusted that this user is in; they share their software."""
    if status.st_uid not in (0, os.geteuid(), PACKAGE_DIRECTORY.stat().st_uid):
        return f"{name} belongs to another user"
    # In directories like /tmp only the owners of files replace them.
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return ""
    if status.st_mode & stat.S_IWOTH:
        return f"every user may change {name}"
    if status.st_mode & stat.S_IWGRP and status.st_gid not in (os.getegid(), *os.getgroups()):
        return f"a group that you are not in may change {name}"
    return ""


def preloaded_library(environ: Mapping[str, str]) -> Path | None:
    """The libheadrace.so that LD_PRELOAD names, of any place; None if it names none."""
    names = environ.get("LD_PRELOAD", "").replace(" ", ":").split(":")
    return next((Path(name) for name in names if Path(name).name == LIBRARY_NAME), None)


def without_headrace(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with whatever LD_PRELOAD names but this library, of any place."""
    names = environ.get("LD_PRELOAD", "").replace(" ", ":").split(":")
    others = [name for name in names if name and Path(name).name != LIBRARY_NAME]
    rest = {name: value for name, value in environ.items() if name != "LD_PRELOAD"}
    return {**rest, "LD_PRELOAD": ":".join(others)} if others else rest


def combine_preload(existing: str | None, library: str) -> str:
    """LD_PRELOAD with `library` last.

    What the user preloads comes first, so that other tools see the program's calls and reach us
    through PMPI. A library already listed keeps its place.
    """
    parts = [part for part in (existing or "").replace(" ", ":").split(":") if part]
    if library not in parts:
        parts.append(library)
    return ":".join(parts)


def preload_obstacle(image: Path, library: Path) -> tuple[str, str, str] | None:
    """Why ld.so will not preload `library` into `image`: problem, why, remedy; None if it will."""
    facts = read_facts(image)
    own = read_facts(library)
    if facts is None:
        return None
    if own and (facts.bits, facts.machine) != (own.bits, own.machine):
        return (
            f"'{image}' cannot be preloaded",
            f"it is a {facts.bits}-bit {facts.machine[3:]} program and the library is "
            f"{own.bits}-bit {own.machine[3:]}",
            "use a headrace built for that machine",
        )
    if not facts.is_dynamic:
        return (
            f"'{image}' cannot be preloaded",
            "it is linked statically",
            "link it dynamically against its MPI",
        )
    if _gains_privileges(image):
        return (
            f"'{image}' cannot be preloaded",
            "it is setuid, setgid or has capabilities, where ld.so ignores LD_PRELOAD paths",
            "run a copy without these",
        )
    return None


def _gains_privileges(path: Path) -> bool:
    if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        return True
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False
