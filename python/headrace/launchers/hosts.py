"""The nodes of a launcher line: its lists of hosts and host files, and a scheduler's variables."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.launchers.families import HYDRA, OPENMPI, Family
from headrace.launchers.line import Context, Option
from headrace.launchers.slurm import expanded, task_counts, whole_number

HOST_LIST = ("-hosts", "--hosts", "-host", "--host", "-H", "--H")
HOST_GROUP = ("-hosts-group", "--hosts-group")
MACHINES = ("-machinefile", "--machinefile", "-machine", "--machine")
HOST_FILE = (
    *("-f", "--f", "-hostfile", "--hostfile", *MACHINES),
    *("-default-hostfile", "--default-hostfile"),
)
NAMING = (*HOST_LIST, *HOST_GROUP, *HOST_FILE)
LARGEST_FILE = 1 << 26

_ENTRY = re.compile(r"(?P<host>[^\s:=]+)(?:\s*:\s*(?P<count>\d{1,8}))?(?P<rest>\s.*)?", re.ASCII)
_SLOTS = re.compile(r"(?<![\w-])slots\s*=\s*(\d{1,8})", re.ASCII)


@dataclass(frozen=True)
class Host:
    """A node by name; count: the ranks that a list gives it, 0 if it says nothing. where: the line
    that names it."""

    name: str
    count: int = 0
    where: str = ""


@dataclass(frozen=True)
class Nodes:
    """source: the option or variable that names the nodes, "" for a scheduler. is_clear: whether
    they are those of all programs, and no option takes some away."""

    hosts: tuple[Host, ...] = ()
    source: str = ""
    is_clear: bool = True


def nodes_of(
    contexts: Sequence[Context], family: Family, environ: Mapping[str, str], is_intel: bool
) -> Nodes:
    """Raises HeadraceError for a host file that cannot be read, or that names a node twice."""
    naming = [
        [option for option in one.options if option.name in NAMING and option.values]
        for one in contexts
    ]
    options = [option for group in naming for option in group]
    if options:
        source = options[0].name
        named = [host for option in options for host in _named(option)]
        different = dict.fromkeys(host.name for host in named)
        # Intel MPI takes a node that a list names again for one more.
        is_joined = not is_intel or source in MACHINES or len(different) == len(named)
        if is_joined and _are_clear(naming, family):
            return Nodes(_merged(named, family), source)
        return Nodes(tuple(map(Host, different)), source, is_clear=False)
    if family is HYDRA:
        names = ("I_MPI_HYDRA_HOST_FILE",) if is_intel else ()
        for name in (*names, "HYDRA_HOST_FILE"):
            if environ.get(name):
                return Nodes(_merged(host_file(Path(environ[name])), family), name)
        group = environ.get("I_MPI_HYDRA_HOSTS_GROUP") if is_intel else ""
        if group:
            return Nodes(tuple(map(Host, expanded(group))), "I_MPI_HYDRA_HOSTS_GROUP")
    return Nodes(_scheduled(environ))


def _are_clear(naming: Sequence[Sequence[Option]], family: Family) -> bool:
    """Open MPI joins several lists; other launchers take one, or none. A list beside a file leaves
    out nodes of the file."""
    first, *others = naming
    if any(others):
        return False  # nodes of one program alone
    lists = [option.values[0] for option in first if option.name in HOST_LIST]
    if any(word.endswith(":*") for text in lists for word in text.split(",")):
        return False  # as many as the node has cores
    return len(first) == 1 or (
        family is OPENMPI and all(option.name in HOST_LIST for option in first)
    )


def _named(option: Option) -> list[Host]:
    value = option.values[0]
    if option.name in HOST_FILE:
        return host_file(Path(value))
    if option.name in HOST_GROUP:
        return [Host(name, 0, option.name) for name in expanded(value)]
    return _listed(value, option.name)


def _listed(text: str, where: str) -> list[Host]:
    found = []
    for word in text.split(","):
        name, _, count = word.partition(":")
        if name:
            found.append(Host(name, whole_number(count), where))
    return found


def host_file(path: Path) -> list[Host]:
    """The nodes of a host file, as hydra's (n0:2) and Open MPI's (n0 slots=2) have them."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise HeadraceError(f"host file '{path}' is not read", "it is too large", "shorten it")
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        why = error.strerror or str(error)
        raise HeadraceError(f"host file '{path}' cannot be read", why, "check its name") from error
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise HeadraceError(
                f"host file '{path}', line {number} has '{entry[:80]}'",
                "it does not begin with a node's name",
                "write for example n0:4 or n0 slots=4",
            )
        slots = _SLOTS.search(match["rest"] or "")
        count = match["count"] or (slots[1] if slots else "0")
        found.append(Host(match["host"], int(count), f"'{path}', line {number}"))
    return found


def _merged(hosts: Sequence[Host], family: Family) -> tuple[Host, ...]:
    """Nodes that are named again right away are one. Open MPI takes all lines of a node together;
    others would start ranks there as if on another node."""
    found: list[Host] = []
    places: dict[str, int] = {}
    for host in hosts:
        place = places.get(host.name)
        if place is None:
            places[host.name] = len(found)
            found.append(host)
        elif family is OPENMPI or place == len(found) - 1:
            before = found[place]
            total = (before.count or 1) + (host.count or 1)
            found[place] = Host(host.name, total, before.where)
        else:
            raise HeadraceError(
                f"{host.where or 'the list of hosts'} names '{host.name}' again",
                f"{found[place].where or 'it'} has it already, so it would count as two nodes",
                "name each node once, with its number of ranks",
            )
    return tuple(found)


def _scheduled(environ: Mapping[str, str]) -> tuple[Host, ...]:
    """The nodes that a scheduler gave the job."""
    names = environ.get("SLURM_JOB_NODELIST") or environ.get("SLURM_NODELIST")
    if names:
        tasks = environ.get("SLURM_TASKS_PER_NODE") or environ.get("SLURM_NTASKS_PER_NODE", "")
        counts = task_counts(tasks)
        hosts = expanded(names)
        counts += [counts[-1] if counts else 0] * (len(hosts) - len(counts))
        return tuple(map(Host, hosts, counts))
    if environ.get("PBS_NODEFILE"):
        return _merged(host_file(Path(environ["PBS_NODEFILE"])), OPENMPI)
    pairs = environ.get("LSB_MCPU_HOSTS", "").split()
    return tuple(map(Host, pairs[::2], map(whole_number, pairs[1::2])))
