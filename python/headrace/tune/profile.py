"""The profile of a file system as a file: the form, where it lies, whether it fits."""

import hashlib
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.errors import HeadraceError, unwritable
from headrace.tune.figures import FORMAT as FIGURES_FORMAT
from headrace.tune.figures import Measured
from headrace.tune.fit import Row
from headrace.tune.gains import Ranges, range_text

FORMAT = 2
TABLES = ("write", "read", "common")
# Collective calls are measured on one node.
NODES = 1
LONGEST_NAME = 60


def to_toml(
    measured: Measured, rows: Sequence[Row], figures: str, counts: Ranges, notes: Sequence[str] = ()
) -> str:
    """The profile. figures: the name of the file with the raw figures. counts: for which pieces it
    counts. notes: what was found of each choice."""
    lines = [
        "# What moving data costs on one file system, as 'headrace tune' measured it.",
        f"# The figures it was worked out from are in {figures}. docs/tune.md says how it is used.",
        "",
        "[profile]",
        f"format = {FORMAT}",
        f"date = {_text(measured.date)}",
        f"headrace = {_text(measured.headrace)}",
        f"figures = {_text(figures)}",
        "",
        "[machine]",
        "# Profiles of another processor do not count.",
        f"processor = {_text(measured.processor)}",
        f"host = {_text(measured.host)}",
        f"cores = {measured.cores}",
        "# Files of more ranks of a node, or of more nodes, go by the built-in costs.",
        f"node_ranks = {measured.node_ranks}",
        f"nodes = {NODES}",
        f"mpi = {_text(measured.mpi)}",
        "",
        "[file_system]",
        "# Without mount the profile counts for all file systems of this kind.",
        f"kind = {_text(measured.file_system)}",
        *([f"mount = {_text(measured.mount)}"] if measured.mount else []),
        "",
        "[choices]",
        "# Pieces, in bytes, for whose collective calls these costs count: there the path that",
        "# they choose was measured to be faster, the 95 % interval of its gain above 1. For all",
        "# others the built-in costs count.",
        *(f"{way} = {_text(range_text(pairs))}" for way, pairs in counts.items()),
        *(f"# {note}" for note in notes),
    ]
    for table in TABLES:
        lines += ["", f"[{table}]", *(["# Nanoseconds, unless said otherwise."])]
        for row in rows:
            if row.cost.table == table:
                lines += _cost_lines(row)
    return "\n".join(lines) + "\n"


def _cost_lines(row: Row) -> list[str]:
    number = f"{row.value:.6g}"
    if row.fitted is None:
        why = f"  # {row.why}" if row.why else ""
        return [f"# {row.cost.doc}", f'{row.cost.name} = "{number} built in"{why}']
    return [
        f"# {row.cost.doc}",
        f'{row.cost.name} = "{number} measured"  # {row.fitted.source}; '
        f"built in: {row.cost.value:g}",
    ]


def _text(text: str) -> str:
    """A text of TOML on one line (toml.io, v1.0.0)."""
    escaped = re.sub(
        r'["\\\\\x00-\x1f\x7f]',
        lambda match: f"\\{match[0]}" if match[0] in '"\\' else f"\\u{ord(match[0]):04X}",
        text,
    )
    return f'"{escaped}"'


@dataclass(frozen=True)
class Profile:
    """A profile that was read. costs: of those that were measured, by table and name."""

    path: Path
    date: str
    processor: str
    file_system: str
    mount: str
    mpi: str
    node_ranks: int
    costs: Mapping[str, float]


def read_profile(path: Path) -> Profile:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        if document["profile"]["format"] != FORMAT:
            raise ValueError(f"it is of format {document['profile']['format']!r}")
        return Profile(
            path=path,
            date=str(document["profile"].get("date", "")),
            processor=str(document["machine"].get("processor", "")),
            file_system=str(document["file_system"]["kind"]),
            mount=str(document["file_system"].get("mount", "")),
            mpi=str(document["machine"].get("mpi", "")),
            node_ranks=int(document["machine"]["node_ranks"]),
            costs=dict(_costs(document)),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        why = f"it has no {error}" if isinstance(error, KeyError) else why
        raise HeadraceError(
            f"profile '{path}' cannot be read", why, "measure anew with headrace tune"
        ) from error


def _costs(document: Mapping[str, Any]) -> list[tuple[str, float]]:
    found = []
    for table in TABLES:
        for name, text in document.get(table, {}).items():
            number, _, source = str(text).partition(" ")
            if source != "built in":
                found.append((f"{table}.{name}", float(number)))
    return found


def for_any_processor(text: str) -> str:
    """A profile's text without the processor that it is of."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("processor ="))


def file_name(measured: Measured) -> str:
    """ "lustre-scratch-amd-epyc-7763-1f03ab.toml": another one for each mount point and processor,
    also where their words are the same."""
    words = [_words(measured.mount) or "root", _words(measured.processor)]
    names = f"{measured.mount}\n{measured.processor}".encode()
    mark = hashlib.sha256(names).hexdigest()[:6]
    return "-".join(word for word in (measured.file_system, *words, mark) if word) + ".toml"


def _words(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text)[:LONGEST_NAME].strip("-").lower()


def figures_file(profile: Path) -> Path:
    return profile.with_name(profile.name.removesuffix(".toml") + ".json")


def user_directory(user_file: str) -> Path:
    """Where a user's profiles lie: beside the file of settings, which need not be there."""
    path = Path(user_file).expanduser()
    if path.is_char_device():
        raise HeadraceError(
            "there is no place for a profile",
            f"HEADRACE_USER is '{user_file}', which has no directory of yours",
            "give a file with --output",
        )
    return path.parent / "profiles"


def require_place(path: Path) -> None:
    """Raises unless a profile and its figures can be written there, over nothing but such files.
    Leaves nothing behind, not even a directory."""
    if path.suffix == ".json":
        raise HeadraceError(
            f"'{path}' is no name for a profile",
            "the figures beside a profile have this ending",
            "give one that ends with .toml",
        )
    for file, is_ours, what in (
        (path, _is_profile, "profile"),
        (figures_file(path), _has_figures, "file of figures"),
    ):
        if file.exists() and not is_ours(file):
            raise HeadraceError(
                f"'{file}' is not overwritten",
                f"it is no {what} that headrace tune wrote",
                "give another file with --output, or remove it",
            )
    there = next(one for one in path.absolute().parents if one.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise unwritable(path, error, "give another file with --output") from error


def _is_profile(path: Path) -> bool:
    try:
        return "format" in tomllib.loads(path.read_text(encoding="utf-8"))["profile"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False


def _has_figures(path: Path) -> bool:
    try:
        with path.open() as file:
            return FIGURES_FORMAT in file.read(100)
    except (OSError, ValueError):
        return False


def write(path: Path, text: str) -> None:
    """Writes a file that is there as a whole or not at all. Everybody may read it, whatever the
    umask says, and nobody else write to it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with open(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w", encoding="utf-8"
        ) as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error, "give another file with --output") from error
        raise


def misfits(profile: Profile, measured: Measured) -> list[str]:
    """Why a profile is not of what was measured; empty if it is."""
    lines = []
    for name, there, here in (
        ("processor", profile.processor, measured.processor),
        ("file system", profile.file_system, measured.file_system),
        ("mount point", profile.mount, measured.mount),
    ):
        if there and there != here:
            lines.append(f"its {name} is {there}, here it is {here}")
    if profile.node_ranks < measured.node_ranks:
        lines.append(
            f"it is of {profile.node_ranks} ranks of a node, here there are {measured.node_ranks}"
        )
    return lines
