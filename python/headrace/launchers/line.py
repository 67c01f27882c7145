"""Reads a launcher line: its contexts, their options, and where the programs stand."""

from dataclasses import dataclass, field

from headrace.launchers.families import Family


@dataclass(frozen=True)
class Option:
    """One option of a launcher line: tokens[start:end], the first being its name."""

    name: str
    start: int
    end: int
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """One program of a launcher line: its tokens are line[start:end], without any ':'.

    program: index of the program, or None where reading had to stop before it.
    """

    start: int
    end: int
    options: tuple[Option, ...] = field(default=())
    program: int | None = None


def read_contexts(family: Family, line: list[str]) -> list[Context]:
    """The contexts of a whole line, line[0] being the launcher."""
    colons = [index for index, token in enumerate(line) if token == ":"]
    starts = [1, *(index + 1 for index in colons)]
    ends = [*colons, len(line)]
    return [_read_context(family, line, *bounds) for bounds in zip(starts, ends, strict=True)]


def _read_context(family: Family, line: list[str], start: int, end: int) -> Context:
    found: list[Option] = []
    index = start
    while index < end:
        token = line[index]
        if not token.startswith("-") or token == "-":
            return Context(start, end, tuple(found), index)
        if token == "--":
            return Context(start, end, tuple(found), index + 1 if index + 1 < end else None)
        option = _read_option(family, line, index, end)
        if option is None:
            break
        found.append(option)
        index = option.end
    return Context(start, end, tuple(found))


def _read_option(family: Family, line: list[str], index: int, end: int) -> Option | None:
    token = line[index]
    name, equals, attached = token.partition("=")
    if equals and name in family.flags | family.valued | family.paired:
        return Option(name, index, index + 1, (attached,))
    if token in family.paired:
        # Hydra takes both `-genv NAME VALUE` and `-genv NAME=VALUE`.
        joined = token in family.assign_options and index + 1 < end and "=" in line[index + 1]
        count = 1 if joined else 2
    elif token in family.valued:
        count = 1
    elif token in family.flags:
        count = 0
    elif token[1] in family.attached and not token.startswith("--"):
        return Option(token[:2], index, index + 1, (token[2:],))
    else:
        return None
    stop = index + 1 + count
    return Option(token, index, stop, tuple(line[index + 1 : stop])) if stop <= end else None
