"""Where srun starts its tasks: Slurm's lists of nodes, and how it deals tasks to them."""

import re
from collections.abc import Iterator, Mapping, Sequence

from headrace.errors import HeadraceError
from headrace.launchers.line import Option

NODE_COUNT = ("-N", "--nodes")  # the least, or a range
PER_NODE = "--ntasks-per-node"
NODE_LIST = ("-w", "--nodelist")
CPUS_PER_TASK = ("-c", "--cpus-per-task")
DISTRIBUTION = ("-m", "--distribution")
# With these it takes other nodes than the first ones, or other numbers of tasks.
CHOOSING = ("-r", "--relative", "-x", "--exclude", "-F", "--nodefile")
MOST = 1 << 24  # ranks
MOST_DIGITS = 18  # of a node's number

_TASKS = re.compile(r"(\d{1,8})(?:\(x(\d{1,8})\))?", re.ASCII)
_EVEN = re.compile(r"(block|cyclic|\*)(:[^,]*)?(,nopack)?", re.ASCII | re.IGNORECASE)

Placed = tuple[tuple[str, ...], tuple[int, ...]]
UNKNOWN: Placed = ((), ())


def nodes_named(options: Sequence[Option]) -> int:
    """How many nodes a line's own options ask for, at least; 0 if they do not say."""
    asked = _last(options, NODE_COUNT)
    if asked:
        return whole_number(asked.partition("-")[0])
    return len(set(expanded(_last(options, NODE_LIST))))


def tasks_by_default(options: Sequence[Option], environ: Mapping[str, str]) -> int:
    """How many tasks a line without a count starts; 0 if that is not known."""
    given = whole_number(environ.get("SLURM_NTASKS", ""))
    if given:
        return given
    asked = _last(options, NODE_COUNT)
    nodes = whole_number(asked or environ.get("SLURM_JOB_NUM_NODES", ""))
    per_node = whole_number(_last(options, (PER_NODE,)))
    if _last(options, CPUS_PER_TASK) and not per_node:
        return 0  # as many as there are CPUs for
    return nodes * (per_node or 1)


def placed(options: Sequence[Option], ranks: int, environ: Mapping[str, str]) -> Placed:
    """The nodes of a step of `ranks` tasks, and how many tasks each gets; "" for a node of which
    no more is known. UNKNOWN if Slurm's own choice of nodes decides that."""
    if not _are_even(options, environ) or any(one.name in CHOOSING for one in options):
        return UNKNOWN
    names = expanded(environ.get("SLURM_JOB_NODELIST") or environ.get("SLURM_NODELIST") or "")
    listed = expanded(_last(options, NODE_LIST))
    asked = _last(options, NODE_COUNT)
    count = whole_number(asked) if asked else len(names) or len(listed)
    count = min(count, ranks)
    if listed and len(listed) == count:
        cpus = dict(zip(names, _cpus(options, len(names), environ), strict=True))
        return tuple(listed), dealt(ranks, [cpus.get(name, 0) for name in listed])
    if count == 1 and not names:
        return ("",), (ranks,)
    if listed or not 0 < count <= len(names):
        return UNKNOWN
    return _on_first(names, _cpus(options, len(names), environ), count, ranks)


def _on_first(names: Sequence[str], cpus: Sequence[int], count: int, ranks: int) -> Placed:
    """Of nodes that differ, Slurm takes those that suit it. One node is the first with room."""
    if count == 1:
        fitting = (at for at, room in enumerate(cpus) if room >= ranks)
        return (names[next(fitting, 0)],), (ranks,)
    if count < len(names) and len(set(cpus)) > 1:
        return UNKNOWN
    return tuple(names[:count]), dealt(ranks, cpus[:count])


def dealt(ranks: int, cpus: Sequence[int]) -> tuple[int, ...]:
    """The tasks of each node: one to each in turn as long as it has CPUs for them, and then to all
    alike. (`_task_layout_block` of Slurm's src/common/slurm_step_layout.c; it is so for cyclic
    distributions, too.) cpus: 0 if not known."""
    sizes = [0] * len(cpus)
    level = 0
    left = ranks
    while left > 0:
        open_nodes = [at for at, room in enumerate(cpus) if level < room]
        if not open_nodes:
            open_nodes = list(range(len(cpus)))
        # Many rounds at once, as long as the same nodes have room.
        rooms = [cpus[at] - level for at in open_nodes if cpus[at] > level]
        rounds = max(1, min(left // len(open_nodes), min(rooms, default=left)))
        for at in open_nodes[:left] if rounds == 1 else open_nodes:
            sizes[at] += rounds
        left -= rounds * len(open_nodes)
        level += rounds
    return tuple(sizes)


def _are_even(options: Sequence[Option], environ: Mapping[str, str]) -> bool:
    distribution = _last(options, DISTRIBUTION) or environ.get("SLURM_DISTRIBUTION", "")
    return not distribution or _EVEN.fullmatch(distribution) is not None


def _cpus(options: Sequence[Option], nodes: int, environ: Mapping[str, str]) -> list[int]:
    """For how many tasks each of the allocation's nodes has CPUs."""
    each = whole_number(_last(options, CPUS_PER_TASK) or environ.get("SRUN_CPUS_PER_TASK", "")) or 1
    counts = task_counts(environ.get("SLURM_JOB_CPUS_PER_NODE", ""))
    if len(counts) != nodes:
        counts = task_counts(environ.get("SLURM_TASKS_PER_NODE", ""))
        each = 1
    if len(counts) != nodes:
        return [0] * nodes
    return [count // each for count in counts]


def _last(options: Sequence[Option], names: Sequence[str]) -> str:
    """The value of an option; of several the last counts."""
    found = [option.values[0] for option in options if option.name in names and option.values]
    return found[-1] if found else ""


def whole_number(text: str) -> int:
    """0 for what is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def task_counts(text: str) -> list[int]:
    """`2(x3),1` as 2, 2, 2, 1."""
    found: list[int] = []
    for match in map(_TASKS.fullmatch, text.split(",")):
        if match is None or len(found) > MOST:
            return []
        found += [int(match[1])] * min(int(match[2] or 1), MOST)
    return found


def expanded(text: str) -> list[str]:
    """Slurm's list of nodes, `n[0-2,07],m1`, as names. Raises HeadraceError for more than MOST."""
    found: list[str] = []
    while text:
        prefix, mark, rest = _cut(text, "[,")
        if mark != "[":
            found.append(prefix.strip())
            text = rest
            continue
        groups, closed, rest = rest.partition("]")
        suffix, mark, text = _cut(rest, ",[")
        if not closed or mark == "[":
            return []  # not a list that can be understood
        for number in _numbers(groups, MOST - len(found)):
            found.append(prefix.strip() + number + suffix)
    return [name for name in found if name]


def _cut(text: str, marks: str) -> tuple[str, str, str]:
    """What is before the first of `marks`, that mark, and what is after it."""
    at = min((place for place in map(text.find, marks) if place >= 0), default=len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]


def _numbers(groups: str, most: int) -> Iterator[str]:
    for group in groups.split(","):
        first, dash, last = group.partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            return
        count = max(0, int(last or first) - int(first) + 1)
        if count > most:
            raise HeadraceError(
                f"the list of hosts has '{group[:80]}'",
                f"that makes more than {MOST} names",
                "name the nodes that the job has",
            )
        most -= count
        for number in range(int(first), int(first) + count):
            yield str(number).zfill(len(first))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
