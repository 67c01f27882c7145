"""Which profiles jobs look for, and where: by the rules of the library (src/file/profiles.cc)."""

from collections.abc import Sequence
from pathlib import Path

from headrace import machine
from headrace.errors import HeadraceError, say
from headrace.settings.resolver import Resolution
from headrace.tune.figures import Measured
from headrace.tune.profile import Profile, read_profile

NONE = "none"
FOLDER = "profiles"
SITE = "headrace.toml"


def folders(run: Resolution) -> dict[str, Path]:
    """The directories of the user's profiles and of the site's, best first: "you", "everybody"."""
    found = {}
    for whose, name in (("you", "HEADRACE_USER"), ("everybody", "HEADRACE_SITE")):
        file = Path(str(run.value(name))).expanduser()
        if not file.is_char_device():  # /dev/null stands for none
            found[whose] = file.absolute().parent / FOLDER
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
        return [read_profile(Path(asked).expanduser())]
    point = machine.mount_of(directory).point
    found = [
        profile
        for folder in folders(run).values()
        for profile in _readable(folder)
        if profile.mount in ("", point)
    ]
    if not found:
        places = " or ".join(f"'{folder}'" for folder in folders(run).values())
        raise HeadraceError(
            f"no profile is of '{directory}'",
            f"none of mount point '{point}' is in {places}",
            f"measure with headrace tune {directory}, or name a profile with --output",
        )
    # One without a mount point comes after those that have it.
    return sorted(found, key=lambda one: one.mount == "")


def used(directory: Path, run: Resolution) -> Profile | None:
    """The one that jobs use for files in `directory`, if they run on processors as this one is.
    Errors: HeadraceError if there is none of that mount point."""
    mount = machine.mount_of(directory)
    for one in candidates(directory, run):
        is_of_kind = one.mount != "" or one.file_system in mount.kind
        if one.processor in ("", machine.processor_name()) and is_of_kind:
            return one
    return None


def _readable(folder: Path) -> list[Profile]:
    found = []
    for path in sorted(folder.glob("[!.]*.toml")):
        try:
            found.append(read_profile(path))
        except HeadraceError as error:
            say(str(error))
    return found


def fitting(profiles: Sequence[Profile], measured: Measured) -> Profile:
    """The one that jobs use where this was measured; the first if they use none of them."""
    for one in profiles:
        if one.processor in ("", measured.processor) and one.file_system == measured.file_system:
            return one
    return profiles[0]


def use_of(place: Path, run: Resolution) -> str:
    """Which jobs use a profile that lies at `place`: a sentence."""
    folder = place.absolute().parent
    if place.suffix == ".toml":
        for whose, of in folders(run).items():
            if folder.resolve() == of.resolve():
                jobs = "your jobs" if whose == "you" else "all users' jobs"
                return f"{jobs} find it by the file system"
        site = folder.parent / SITE
        if folder.name == FOLDER and site.is_file():
            return f"jobs find it where HEADRACE_SITE={site} is set, as the site's module sets it"
    return f"jobs use it where HEADRACE_PROFILE={place.absolute()} is set"
