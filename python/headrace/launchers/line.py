"""Reads a launcher line: its contexts, their options, and where the programs stand."""

from dataclasses import dataclass, field

from headrace.launchers.families import Family


@dataclass(frozen=True)
class Option:
    """One option of a launcher line: tokens[start:end], the first being its name. Of several that
    share a token the last one has it; the others have none."""

    name: str
    start: int
    end: int
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """One program of a launcher line: its tokens are line[start:end], without any ':'.

    program: index of the program, None if it has none or reading had to stop before it.
    unknown: index of the option that no list has, where reading had to stop.
    """

    start: int
    end: int
    options: tuple[Option, ...] = field(default=())
    program: int | None = None
    unknown: int | None = None


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
        options = _read_options(family, line, index, end)
        if not options:
            return Context(start, end, tuple(found), unknown=index)
        if options[-1].end > end:
            break  # its value is missing
        found += options
        index = options[-1].end
    return Context(start, end, tuple(found))


def _read_options(family: Family, line: list[str], index: int, end: int) -> list[Option]:
    """The options of the token at `index`; none if it is unknown."""
    token = line[index]
    if family.clusters and not token.startswith("--"):
        return _read_cluster(family, line, index)
    option = _read_option(family, line, index, end)
    return [option] if option else []


def _read_cluster(family: Family, line: list[str], index: int) -> list[Option]:
    """Letters of options behind one dash. What follows a letter that may have a value is its value,
    else the next token if it must have one."""
    token = line[index]
    found: list[Option] = []
    for at, letter in enumerate(token[1:], 1):
        name, rest = f"-{letter}", token[at + 1 :]
        if letter in family.attached and rest:
            return [*found, Option(name, index, index + 1, (rest,))]
        if name in family.valued:
            return [*found, Option(name, index, index + 2, tuple(line[index + 1 : index + 2]))]
        if name not in family.flags:
            return []
        found.append(Option(name, index, index + (0 if rest else 1)))
    return found


def _whole_name(family: Family, name: str) -> str:
    """getopt_long(3) takes the beginning of a name for all of it where only one name begins so."""
    known = family.flags | family.valued
    longer = [one for one in known if one.startswith(name)]
    return longer[0] if family.clusters and len(longer) == 1 else name


def _read_option(family: Family, line: list[str], index: int, end: int) -> Option | None:
    """Its end may lie behind `end`, if its value is missing."""
    token = line[index]
    name, equals, attached = token.partition("=")
    if equals and (family.clusters or name in family.flags | family.valued | family.paired):
        return Option(_whole_name(family, name), index, index + 1, (attached,))
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
    return Option(token, index, stop, tuple(line[index + 1 : stop]))
