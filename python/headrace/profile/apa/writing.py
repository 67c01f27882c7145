"""The editable file that says what to trace. What its users have edited is never overwritten: its
last line has a mark of what was written."""

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from headrace.errors import unwritable
from headrace.profile.apa.proposal import Proposal
from headrace.profile.generated.trace_groups import GROUPS, SETS
from headrace.symbols.names import demangled

SUFFIX = ".apa.toml"
LARGEST = 4 << 20
LONGEST_COMMENT = 160
MOST_FILES = 1000
_MARK = "# as written: "


@dataclass(frozen=True)
class _Row:
    name: str
    shown: str
    module: str
    share: float
    size: int
    way: str
    trace: bool
    reason: str


def text_of(proposal: Proposal, samples: int, record: str, again: str) -> str:
    """again: the line to type next, without the file's name, which is {file} in it."""
    apa = proposal.apa
    rows = [
        _Row(
            *(one.name, comment(demangled(one.name)), one.module, one.share or 0.0),
            *(one.size or 0, one.way, one.trace, comment(one.reason)),
        )
        for one in apa.functions
    ]
    made = _template().render(
        apa={**vars(apa), "functions": rows},
        program=comment(Path(apa.program).name),
        samples=f"{samples:,} samples",
        record=comment(record),
        again=comment(again, 4096),
        known=", ".join((*GROUPS, *SETS)),
        left_out=proposal.left_out,
        in_mpi=_percent(proposal.in_mpi),
        unnamed=_percent(proposal.unnamed),
    )
    return made.rstrip("\n") + "\n"


def _percent(share: float) -> str:
    return f"{share:.1f} %" if share >= 0.05 else ""


def comment(text: str, longest: int = LONGEST_COMMENT) -> str:
    """Text of others that cannot end the comment in which it stands."""
    plain = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    return plain if len(plain) <= longest else f"{plain[: longest - 3]}..."


def toml(value: object) -> str:
    """A value of TOML on one line (toml.io, v1.0.0)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return '"' + "".join(map(_letter, str(value))) + '"'


def _letter(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    if "\ud800" <= one <= "\udfff":  # bytes that are no UTF-8, which TOML cannot have
        return "?"
    return one if re.match(r"[^\x00-\x1f\x7f]", one) else f"\\u{ord(one):04X}"


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace.profile.apa", "."),
        autoescape=False,  # it is no markup: each text of others goes through `toml` or `comment`
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["toml"] = toml
    return environment.get_template("apa.toml.jinja")


def plain(name: str) -> str:
    """A part of a file's name, whatever it is made of."""
    return re.sub(r"[^A-Za-z0-9_.+-]", "_", name)[:100].strip(".") or "program"


def names(program: str) -> Iterable[str]:
    base = plain(Path(program).name)
    yield f"{base}{SUFFIX}"
    yield from (f"{base}.{number}{SUFFIX}" for number in range(2, MOST_FILES))


def place_for(folder: Path, program: str) -> tuple[Path, bool]:
    """The first name that is free, or whose file is as it was written; whether an edited file had
    a name before it."""
    path = folder
    for place, name in enumerate(names(program)):
        path = folder / name
        if not os.path.lexists(path) or _is_unedited(path):
            return path, place > 0
    return path, True


def write(path: Path, text: str) -> None:
    """Whole or not at all. Raises HeadraceError."""
    marked = f"{text}{_MARK}{_digest(text)}\n".encode("utf-8", "backslashreplace")
    try:
        handle, temporary = tempfile.mkstemp(prefix=".headrace-apa-", dir=path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        with open(handle, "wb") as stream:
            stream.write(marked)
        os.chmod(temporary, 0o644 & ~_mask())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise unwritable(path, error) from error


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _is_unedited(path: Path) -> bool:
    text = read_text(path)
    if text is None:
        return False
    begin, mark, digest = text.rpartition(_MARK)
    return bool(mark) and digest.strip() == _digest(begin)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def read_text(path: Path) -> str | None:
    """Of a regular file of at most 4 MiB that is UTF-8; None of others."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
                return None
            return stream.read(LARGEST + 1).decode("utf-8")
    except (OSError, ValueError):
        return None
