"""What the user has said about a library's algorithms, which stands. Pure functions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from headrace.algorithms.knob import Knob, Library

# Options that name files with more options or parameters, which nobody reads here.
FILE_OPTIONS = ("configfile", "tune", "am", "app")
_BREAKS = re.compile(r"[,;=\s\"']+")
MCA = "OMPI_MCA_"


@dataclass(frozen=True)
class Said:
    """A variable that somebody sets, and where."""

    name: str
    where: str


def said(
    library: Library,
    environ: Mapping[str, str],
    line: Sequence[str],
    files: Mapping[str, str],
) -> list[Said]:
    """Names that may be the library's variables. line: words of a launcher's line that may set any.
    files: the texts of configuration files by their names."""
    found = [Said(name, "the environment") for name in environ]
    found += _in_words(library, line, "the launcher's line")
    for name, text in files.items():
        lines = (one.partition("#")[0] for one in text.splitlines())
        found += _in_words(library, lines, f"'{name}'")
    return found


def _in_words(library: Library, words: Iterable[str], where: str) -> list[Said]:
    names = [name for word in words for name in _BREAKS.split(word) if name]
    if library.form == "rules":
        # A parameter's name stands alone on the line and in files.
        names += [MCA + name for name in names if not name.startswith(MCA)]
    return [Said(name, where) for name in names]


def hidden(line: Iterable[str]) -> str:
    """The option of a launcher's line that names a file, in which anything may be set, or ""."""
    names = {dashes + name for name in FILE_OPTIONS for dashes in ("-", "--")}
    return next((word for word in line if word.partition("=")[0] in names), "")


def stands(library: Library, names: Iterable[Said]) -> Said | None:
    """What keeps Headrace from setting any algorithm of the library."""
    return next(
        (one for one in names if any(fnmatchcase(one.name, p) for p in library.stand)), None
    )


def stands_for(library: Library, knob: Knob, names: Iterable[Said]) -> Said | None:
    """What keeps it from setting that of one operation: a variable that is about it, by whichever
    of the library's names."""
    operation = knob.operation if library.form == "rules" else knob.operation.upper()
    own = [prefix + operation for prefix in library.prefixes]
    set_here = {knob.variable, *knob.also}

    def is_about(name: str) -> bool:
        return name in set_here or any(name == one or name.startswith(one + "_") for one in own)

    return next((one for one in names if is_about(one.name)), None)
