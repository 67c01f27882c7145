"""Files of which each rank has its own, as out.0.dat, out.1.dat and so on: families."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from headrace.analysis.accesses import Access, UsedFile, known_sum
from headrace.analysis.files import File

LEAST_FILES = 4
MOST_RATIO = 10  # of the largest file of a family to its smallest one
_NUMBER = re.compile(r"[0-9]+")
# Names that are no files' own: hashed ones, several files together.
_NO_NAME = re.compile(r"file-[0-9a-f]{16}|\(.*|.*/\*", re.DOTALL)
_GREATEST = ("block", "furthest_read", "furthest_written")

Part = TypeVar("Part", File, Access)


@dataclass(frozen=True)
class Family:
    """Files whose names differ in their digits alone, each opened by one rank. ranks: how many of
    these there are."""

    name: str
    ranks: int
    files: tuple[UsedFile, ...]

    @property
    def label(self) -> str:
        count = len(self.files)
        of = "one a rank" if self.ranks == count else f"of {self.ranks:,} ranks"
        return f"{self.name} ({count:,} files, {of})"


def families(used: Iterable[UsedFile]) -> tuple[Family, ...]:
    """Those that took most time first."""
    alike: dict[tuple[str, ...], list[UsedFile]] = {}
    for one in used:
        if _rank_of(one) is not None and not _NO_NAME.fullmatch(one.name):
            parts = _NUMBER.split(one.name)
            if len(parts) > 1:
                alike.setdefault((one.interface, *parts), []).append(one)
    found = [
        made for files in alike.values() for group in _by_size(files) for made in _family(group)
    ]
    return tuple(sorted(found, key=lambda one: (-_time(one), one.name)))


def _rank_of(one: UsedFile) -> int | None:
    """The one rank that used it."""
    ranks = {part.only_rank for part in one.parts}
    return ranks.pop() if len(ranks) == 1 else None


def _bytes_of(one: UsedFile) -> int:
    return sum(part.read + part.written for part in one.parts)


def _by_size(files: Sequence[UsedFile]) -> Iterator[list[UsedFile]]:
    """Files of the same order of size together."""
    group: list[UsedFile] = []
    for one in sorted(files, key=lambda one: (_bytes_of(one), one.name)):
        if group and _bytes_of(one) > MOST_RATIO * _bytes_of(group[0]):
            yield group
            group = []
        group.append(one)
    yield group


def _family(group: Sequence[UsedFile]) -> Iterator[Family]:
    ranks = {_rank_of(one) for one in group}
    if len(group) >= LEAST_FILES and len(ranks) > 1:
        by_name = sorted(group, key=lambda one: _numbers_of(one.name))
        yield Family(_name([one.name for one in by_name]), len(ranks), tuple(by_name))


def _time(one: Family) -> int:
    return sum(file.time or 0 for file in one.files)


def _key(number: str) -> tuple[int, str, int]:
    """Orders digits as numbers, however many there are."""
    plain = number.lstrip("0")
    return len(plain), plain, len(number)


def _numbers_of(name: str) -> list[tuple[int, str, int]]:
    return [_key(one) for one in _NUMBER.findall(name)]


def _name(names: Sequence[str]) -> str:
    """As out.{0..15}.dat. A number that is the same in all names stays."""
    columns = zip(*(_NUMBER.findall(name) for name in names), strict=True)
    texts = _NUMBER.split(names[0])
    made = texts[0]
    for column, text in zip(columns, texts[1:], strict=True):
        least, greatest = min(column, key=_key), max(column, key=_key)
        made += (least if least == greatest else f"{{{least}..{greatest}}}") + text
    return made


@dataclass(frozen=True)
class Spread:
    """Of one number of all files of a family; None: not measured."""

    total: int | None
    least: int | None
    greatest: int | None


def spread(family: Family, what: str) -> Spread:
    """what: a field of the files' parts, or `time`."""
    values = [known_sum(getattr(part, what) for part in one.parts) for one in family.files]
    known = [one for one in values if one is not None]
    if not known:
        return Spread(None, None, None)
    return Spread(sum(known), min(known), max(known))


def in_one_row(parts: Iterable[Part], families: Iterable[Family]) -> list[Part]:
    """A family's files at one layer as one; what is of none stays. Those that took most time
    first."""
    family_of = {
        id(part): family for family in families for file in family.files for part in file.parts
    }
    # Of a Darshan log, files below one interface stand in two lists.
    by_name = {file.name: family for family in families for file in family.files}
    made: list[Part] = []
    members: dict[tuple[int, str], list[Part]] = {}
    labels: dict[tuple[int, str], str] = {}
    for part in parts:
        family = family_of.get(id(part), by_name.get(part.name))
        if family is None:
            made.append(part)
        else:
            key = id(family), part.layer if isinstance(part, Access) else part.interface
            members.setdefault(key, []).append(part)
            labels[key] = family.label
    made += [_joined(group, labels[key]) for key, group in members.items()]
    return sorted(made, key=lambda one: (-(one.time or 0), one.name))


def _joined(parts: Sequence[Part], name: str) -> Part:
    values = {
        one.name: _join(one.name, [getattr(part, one.name) for part in parts])
        for one in fields(parts[0])
        if one.name not in ("name", "layer", "interface", "only_rank", "storage")
    }
    values["ranks"] = len({part.only_rank for part in parts})
    return replace(parts[0], name=name, only_rank=None, **values)


def _join(what: str, values: Sequence) -> int | list[int] | None:
    known = [one for one in values if one is not None]
    if not known:
        return None
    if isinstance(known[0], list):
        return [sum(column) for column in zip(*known, strict=True)]
    return max(known) if what in _GREATEST else sum(known)
