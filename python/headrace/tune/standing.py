"""Which profiles jobs look for, and where: by the rules of the library (src/file/profiles.cc)."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from headrace import machine
from headrace.bench.programs import find_file
from headrace.errors import HeadraceError, say
from headrace.places import visible_in
from headrace.settings.resolver import Resolution
from headrace.settings.standing import (
    remedy_of,
    why_directory_refused,
    why_refused,
    with_home,
)
from headrace.tune.figures import Measured
from headrace.tune.profile import Profile, is_device, read_profile

NONE = "none"
FOLDER = "profiles"
SITE = "headrace.toml"
MOST_PROFILES = 64  # of a directory
# A file, ranks, of a node, bytes of a piece, pieces, cores: only of the file system something is
# asked.
CALL = ("1", "1", "1", "1", "1")
KIND = re.compile(r"' on (\S+):")


def folders(run: Resolution, environ: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """The directories of the user's profiles and of the site's, best first: "you", "everybody"."""
    found = {}
    for whose, name in (("you", "HEADRACE_USER"), ("everybody", "HEADRACE_SITE")):
        file = with_home(str(run.value(name)), environ)
        if file and not is_device(Path(file)):  # /dev/null stands for none
            found[whose] = Path(file).absolute().parent / FOLDER
    return found


def candidates(directory: Path, run: Resolution) -> list[Profile]:
    """The profiles that jobs may use for files in `directory`, best first; at least one. What is
    measured tells which of them it is: profiles are of a processor, too. Errors: HeadraceError."""
    asked = str(run.value("HEADRACE_PROFILE"))
    if asked == NONE:
        raise HeadraceError(
            f"no profile applies to '{directory}'",
            "HEADRACE_PROFILE is 'none'",
            "unset it, or name a profile with --output",
        )
    if asked:
        return [_asked_for(Path(with_home(asked, os.environ)))]
    point = machine.mount_point(directory)
    found = [one for one in _standing(run) if one.mount in ("", point)]
    if not found:
        places = " or ".join(f"'{folder}'" for folder in folders(run).values())
        raise HeadraceError(
            f"no profile is of '{directory}'",
            f"none of mount point '{point}' is in {places or 'a directory of yours'}",
            f"measure with headrace tune {directory}, or name a profile with --output",
        )
    # One without a mount point comes after those that have it.
    return sorted(found, key=lambda one: one.mount == "")


def _asked_for(path: Path) -> Profile:
    found = read_profile(path)
    if why := why_ignored(path):
        raise HeadraceError(f"profile '{path}' is ignored", why, remedy_of(why, path))
    return found


def used(directory: Path, run: Resolution, environ: Mapping[str, str]) -> Profile | None:
    """The one that jobs use for files in `directory`, if they run on processors as this one is.
    Errors: HeadraceError if there is none of that mount point."""
    found = candidates(directory, run)
    of = machine.processor_name(), kind_of(directory, environ), machine.mount_point(directory)
    return next((one for one in found if _is_of(one, *of)), None)


def _is_of(one: Profile, processor: str, kind: str, mount: str) -> bool:
    is_of_place = one.file_system == kind and one.mount in ("", mount)
    return is_of_place and one.processor in ("", processor)


def kind_of(directory: Path, environ: Mapping[str, str]) -> str:
    """The kind of file system that holds a directory, as the library calls it, whose program tells
    it; as the kernel does, where the program is not there."""
    try:
        line = [find_file("hints", environ), str(directory / "file"), *CALL]
        done = subprocess.run(line, env=environ, capture_output=True, text=True, errors="replace")
        found = KIND.search(done.stdout)
    except (HeadraceError, OSError):
        found = None
    return found[1] if found else machine.mount_of(directory).kind


def _standing(run: Resolution) -> list[Profile]:
    """All that the library reads, in its order."""
    return [one for folder in folders(run).values() for one in _readable(folder)]


def _readable(folder: Path) -> list[Profile]:
    found = []
    for path in visible_in(folder, ".toml")[:MOST_PROFILES]:
        if why := why_ignored(path):
            say(f"profile '{path}' is ignored ({why}), {remedy_of(why, path)}")
            continue
        try:
            found.append(read_profile(path))
        except HeadraceError as error:
            say(str(error))
    return found


def why_ignored(path: Path) -> str:
    """Why the library does not read a profile that is there; "" if it does."""
    try:
        return why_refused(path.stat(), path)
    except OSError as error:
        return error.strerror or str(error)


def scope_of(path: Path) -> str:
    """What a profile that lies where jobs look applies to. Errors: HeadraceError if they ignore it,
    or if it cannot be read."""
    if why := why_ignored(path):
        raise HeadraceError(f"profile '{path}' is ignored", why, remedy_of(why, path))
    one = read_profile(path)
    if not one.counts:
        return "nothing (no choice was faster by its costs)"
    place = f"{one.file_system} at {one.mount}" if one.mount else f"any {one.file_system}"
    processor = f" on '{one.processor}'" if one.processor else ""
    return f"{place}{processor}, to files of one node, of up to {one.node_ranks} ranks"


def require_trusted(folder: Path) -> None:
    """Raises HeadraceError if the library would ignore all that lies in a directory."""
    try:
        why = why_directory_refused(folder)
    except OSError:
        return  # whoever writes there says why
    if why:
        raise HeadraceError(
            f"jobs would ignore a profile in '{folder}'", why, remedy_of(why, folder / "profile")
        )


def fitting(profiles: Sequence[Profile], measured: Measured) -> Profile:
    """The one that jobs use where this was measured; the first if they use none of them."""
    of = measured.processor, measured.file_system, measured.mount
    return next((one for one in profiles if _is_of(one, *of)), profiles[0])


def use_of(place: Path, run: Resolution) -> str:
    """Which jobs use the profile that lies at `place`: a sentence."""
    if why := why_ignored(place):
        return f"jobs ignore it ({why}), {remedy_of(why, place.absolute())}"
    folder = place.absolute().parent
    is_visible = place.suffix == ".toml" and not place.name.startswith(".")
    for whose, of in folders(run).items() if is_visible else ():
        if folder.resolve() == of.resolve():
            return _use_of_standing(place, "your" if whose == "you" else "all users'", run)
    site = folder.parent / SITE
    if is_visible and folder.name == FOLDER and os.path.isfile(site):
        return f"jobs find it where HEADRACE_SITE={site} is set, as the site's module sets it"
    return f"jobs use it where HEADRACE_PROFILE={place.absolute()} is set"


def _use_of_standing(place: Path, whose: str, run: Resolution) -> str:
    """Of one that lies where the library looks by itself."""
    asked = str(run.value("HEADRACE_PROFILE"))
    if asked:
        return f"{whose} jobs find it by the file system, but where HEADRACE_PROFILE={asked} is set"
    own = read_profile(place)
    of = own.processor, own.file_system, own.mount
    alike = [one for one in _standing(run) if _is_of(one, *of)]
    alike.sort(key=lambda one: one.mount == "")
    if not alike:
        return f"jobs ignore it (they look at {MOST_PROFILES} files of a directory), remove others"
    if not alike[0].path.samefile(place):
        return f"jobs use '{alike[0].path}' instead, which comes before it, remove one of them"
    return f"{whose} jobs find it by the file system"
