"""The files that a site is given: what they are, and how they are written."""

import os
from dataclasses import dataclass
from pathlib import Path

import jinja2

from headrace.errors import HeadraceError, unwritable
from headrace.places import make_public_directory, write_whole

MARKER = "Written by 'headrace site init', which writes it anew when it is run again."
SETTINGS = "headrace.toml"
# Characters that mean something in Tcl, in Lua's strings, in a list of paths, or to those who read
# these files by their words, as `headrace site check` does. None that cannot be printed will do.
UNQUOTABLE = " :;\"'\\[]{}(),$"


@dataclass(frozen=True)
class Site:
    """What the files name. prefix: the folder of the site; library: libheadrace.so; commands: the
    folder of `headrace`."""

    prefix: Path
    version: str
    library: Path
    commands: Path

    @property
    def settings(self) -> Path:
        return self.prefix / SETTINGS

    @property
    def modules(self) -> Path:
        """What `module use` is given."""
        return self.prefix / "modulefiles"

    @property
    def profiles(self) -> Path:
        """Where jobs look for what `headrace tune` has measured."""
        return self.prefix / "profiles"


def write(site: Site) -> list[tuple[Path, str]]:
    """Writes the files of a site, and makes its directory of profiles. Returns each with what was
    done: "written", "made" or "kept".

    The site's settings are never overwritten, and a module file only if it was written here.
    Errors: HeadraceError.
    """
    for path in (site.prefix, site.library, site.commands):
        _require_quotable(path)
    texts = {
        site.modules / "headrace" / f"{site.version}.lua": _render("module.lua.jinja", site),
        site.modules / "headrace" / site.version: _render("module.tcl.jinja", site),
        site.settings: _render("headrace.toml.jinja", site),
    }
    for path in texts:
        _refuse_edited(path)
    done = [(path, _put(path, text)) for path, text in texts.items()]
    return [*done, (site.profiles, _make(site.profiles))]


def _require_quotable(path: Path) -> None:
    text = str(path)
    bad = next((char for char in text if char in UNQUOTABLE or not char.isprintable()), None)
    if bad is not None:
        raise HeadraceError(
            f"{text!r} cannot stand in a module file",
            f"it has the character {bad!r}",
            "give another folder",
        )


def _render(name: str, site: Site) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace.site", "."),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(name).render(
        marker=MARKER,
        version=site.version,
        library=site.library,
        commands=site.commands,
        settings=site.settings,
    )


def _is_kept(path: Path) -> bool:
    """Also a link that leads nowhere yet."""
    return path.name == SETTINGS and os.path.lexists(path)


def _refuse_edited(path: Path) -> None:
    if path.name == SETTINGS or not os.path.exists(path):
        return
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise unwritable(path, error, "give another folder") from error
    if MARKER not in text:
        raise HeadraceError(
            f"'{path}' is not overwritten",
            "it was not written by 'headrace site init', or its first comment was changed",
            "move it away, or give another folder",
        )


def _make(folder: Path) -> str:
    if os.path.lexists(folder):
        return "kept"
    try:
        make_public_directory(folder)
    except OSError as error:
        raise unwritable(folder, error, "give a folder that you may write to") from error
    return "made"


def _put(path: Path, text: str) -> str:
    """Writes a file that everybody can read, whole, or leaves what is there."""
    if _is_kept(path):
        return "kept"
    try:
        make_public_directory(path.parent)
        write_whole(path, text, 0o644)
    except OSError as error:
        raise unwritable(path, error, "give a folder that you may write to") from error
    return "written"
