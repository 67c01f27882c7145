"""The profile of a file system as a file: the form, where it lies, whether it fits."""

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError, unwritable
from headrace.places import make_public_directory, try_whole, write_whole
from headrace.settings.lines import read_lines
from headrace.settings.standing import MOST_BYTES, with_home
from headrace.tune.figures import FORMAT as FIGURES_FORMAT
from headrace.tune.figures import Measured
from headrace.tune.fit import Row
from headrace.tune.gains import Ranges, range_text
from headrace.tune.patterns import DIRECTIONS, Pattern

FORMAT = 2
MOST_RANKS = 1 << 20
MOST_COST = 1e15
TABLES = ("write", "read", "common")
# Collective calls are measured on one node.
NODES = 1
LONGEST_NAME = 60
# Better profiles that stay; the last is replaced.
MOST_KEPT = 1000
_VERSION = ("profile", "format")
_KEYS = (
    _VERSION,
    ("profile", "date"),
    ("machine", "processor"),
    ("machine", "mpi"),
    ("machine", "node_ranks"),
    ("machine", "nodes"),
    ("file_system", "kind"),
    ("file_system", "mount"),
    ("choices", "write"),
    ("choices", "read"),
    ("choices", "denied"),
)
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DENIED = re.compile(r"(write|read) ([0-9]{1,15})(?=,|$)")


def to_toml(
    measured: Measured,
    rows: Sequence[Row],
    figures: str,
    counts: Ranges,
    notes: Sequence[str] = (),
    denied: Collection[Pattern] = (),
) -> str:
    """The profile. figures: the name of the file with the raw figures. counts: for which pieces it
    counts. notes: what was found of each choice. denied: as in Profile."""
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
        *(_denied_lines(denied) if denied else ()),
    ]
    for table in TABLES:
        lines += ["", f"[{table}]", *(["# Nanoseconds, unless said otherwise."])]
        for row in rows:
            if row.cost.table == table:
                lines += _cost_lines(row)
    return "\n".join(lines) + "\n"


def _denied_lines(denied: Collection[Pattern]) -> list[str]:
    pairs = sorted((one.direction, one.bytes) for one in denied)
    return [
        "# Pieces for which jobs denied that gain: headrace tune --check does not ask for it.",
        f"denied = {_text(', '.join(f'{way} {size}' for way, size in pairs))}",
    ]


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
    """A profile that was read. costs: of those that were measured, by table and name. counts:
    whether it counts for any pieces. denied: direction and bytes of patterns whose new choice was
    faster by paths, but not in jobs."""

    path: Path
    date: str
    processor: str
    file_system: str
    mount: str
    mpi: str
    node_ranks: int
    costs: Mapping[str, float]
    counts: bool = True
    denied: frozenset[tuple[str, int]] = frozenset()


Values = Mapping[tuple[str, str], str]  # table, key


def read_profile(path: Path) -> Profile:
    """By the rules of the library (src/policy/profile.cc), which takes each line by itself. Errors:
    HeadraceError for what it does not take at all."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES >> 10} KiB")
        values: dict[tuple[str, str], str] = {}
        for entry in read_lines(data.decode("utf-8", "surrogateescape")).entries:
            values.setdefault((".".join(entry.table), entry.key), entry.value)
        return _profile(path, values)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise HeadraceError(
            f"profile '{path}' cannot be read", why, "measure anew with headrace tune"
        ) from error


def _profile(path: Path, values: Values) -> Profile:
    of = {key: values.get(key, "") for key in _KEYS}
    if not of[_VERSION]:
        raise ValueError("it has no format below [profile]")
    if of[_VERSION] != str(FORMAT):
        raise ValueError(f"it is of format {of[_VERSION]}, this version reads format {FORMAT}")
    if not of["file_system", "kind"]:
        raise ValueError("it names no kind below [file_system]")
    node_ranks = _count(of["machine", "node_ranks"])
    if not node_ranks or not _count(of["machine", "nodes"]):
        raise ValueError("it has no counts node_ranks and nodes below [machine]")
    ranges = (of["choices", way] for way in DIRECTIONS)
    return Profile(
        path=path,
        date=of["profile", "date"],
        processor=of["machine", "processor"],
        file_system=of["file_system", "kind"],
        mount=of["file_system", "mount"],
        mpi=of["machine", "mpi"],
        node_ranks=node_ranks,
        costs=dict(_costs(values)),
        counts=any(text not in ("", "none") for text in ranges),
        denied=frozenset(
            (way, int(size)) for way, size in _DENIED.findall(of["choices", "denied"])
        ),
    )


def _count(text: str) -> int:
    """A count that the library takes; 0 for what is none."""
    is_count = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_count and int(text) <= MOST_RANKS else 0


def _costs(values: Values) -> Iterator[tuple[str, float]]:
    """What is no number does not count."""
    for (table, name), text in values.items():
        number, _, source = text.partition(" ")
        if table not in TABLES or source == "built in" or not _NUMBER.fullmatch(number):
            continue
        if float(number) <= MOST_COST:
            yield f"{table}.{name}", float(number)


def for_any_processor(text: str) -> str:
    """A profile's text without the processor that it is of."""
    return re.sub(r"^[ \t]*processor[ \t]*=.*\n?", "", text, flags=re.MULTILINE)


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


def user_directory(user_file: str, environ: Mapping[str, str]) -> Path:
    """Where a user's profiles lie: beside the file of settings, which need not be there."""
    name = with_home(user_file, environ)
    if not name or is_device(Path(name)):
        why = "is not set" if not name else f"is '{user_file}', which has no directory of yours"
        raise HeadraceError(
            "there is no place for a profile",
            f"{'HEADRACE_USER' if name else 'HOME'} {why}",
            "give a file with --output",
        )
    return Path(name).parent / "profiles"


def is_device(path: Path) -> bool:
    """Whether it is one of characters, as /dev/null, which stands for no file."""
    try:
        return stat.S_ISCHR(path.stat().st_mode)
    except OSError:
        return False


def require_place(path: Path) -> None:
    """Raises unless a profile and its figures can be written there, over nothing but such files.
    Leaves nothing behind, not even a directory."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise HeadraceError(
            f"{str(path)!r} is no name for a profile", "it is not UTF-8", "give another one"
        ) from error
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
        try:
            try_whole(file, makes_folders=True)
        except OSError as error:
            raise unwritable(file, error, "give another file with --output") from error
        if os.path.exists(file) and not is_ours(file):
            raise HeadraceError(
                f"'{file}' is not overwritten",
                f"it is no {what} that headrace tune wrote",
                "give another file with --output, or remove it",
            )


def _is_profile(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES)
    except OSError:
        return False
    entries = read_lines(data.decode("utf-8", "surrogateescape")).entries
    return any((*one.table, one.key) == _VERSION for one in entries)


def _has_figures(path: Path) -> bool:
    try:
        with path.open() as file:
            return FIGURES_FORMAT in file.read(100)
    except (OSError, ValueError):
        return False


def write(path: Path, text: str) -> None:
    """Writes a file that is there as a whole or not at all. Everybody may read it, and the
    directories that are made for it, whatever the umask says, and nobody else write to them: others
    may name a place of a site."""
    try:
        make_public_directory(path.absolute().parent)
        write_whole(path, text, 0o644)
    except OSError as error:
        raise unwritable(path, error, "give another file with --output") from error


def keep_better(path: Path, node_ranks: int, counts: bool) -> Path | None:
    """Copies the profile that is at `path` if one of so many ranks, which counts somewhere or not,
    would be a worse one, and its figures, beside those that were kept before. Returns where to.
    Jobs do not look at such a file."""
    try:
        there = read_profile(path)
    except HeadraceError:
        return None
    if there.node_ranks <= node_ranks and (counts or not there.counts):
        return None
    files = (figures_file(path), path)
    endings = (".old", *(f".old{number}" for number in range(2, MOST_KEPT)))
    ending = next(
        (
            one
            for one in endings
            if not any(os.path.lexists(file.with_name(file.name + one)) for file in files)
        ),
        f".old{MOST_KEPT}",
    )
    for file in files:
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
            write(file.with_name(file.name + ending), text)
    return path.with_name(path.name + ending)


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
