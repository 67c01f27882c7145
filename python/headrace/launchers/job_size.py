"""How many ranks a launcher line starts, and on which nodes: from its options, host files and the
scheduler's variables."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.launchers.families import ALPS, HYDRA, OPENMPI, PALS, SLURM, Family
from headrace.launchers.line import Context, Option, read_contexts
from headrace.launchers.slurm import (
    MOST,
    expanded,
    placed,
    task_counts,
    tasks_by_default,
    whole_number,
)
from headrace.launchers.slurm import nodes_named as nodes_named_to_srun

COUNT = frozenset(("-n", "--n", "-np", "--np", "--ntasks"))
COUNT_OF_OPENMPI = COUNT | {"-c", "--c"}
PER_NODE = {
    HYDRA.name: ("-ppn", "--ppn", "-perhost", "--perhost"),
    OPENMPI.name: ("-npernode", "--npernode", "-N", "--N"),
    ALPS.name: ("-N",),
    PALS.name: ("-ppn", "--ppn"),
}
HOST_LIST = ("-hosts", "--hosts", "-host", "--host", "-H", "--H")
HOST_FILE = (
    *("-f", "--f", "-hostfile", "--hostfile", "-machinefile", "--machinefile"),
    *("-machine", "--machine", "-default-hostfile", "--default-hostfile"),
)
MAP_BY = ("-map-by", "--map-by")
LARGEST_FILE = 1 << 26
UNKNOWN = -1  # ranks that no count tells

_ENTRY = re.compile(r"(?P<host>[^\s:=]+)(?:\s*:\s*(?P<count>\d{1,8}))?(?P<rest>\s.*)?", re.ASCII)
_SLOTS = re.compile(r"\bslots\s*=\s*(\d{1,8})", re.ASCII)


@dataclass(frozen=True)
class Host:
    """A node by name; count: the ranks that a list gives it, 0 if it says nothing. where: the line
    that names it."""

    name: str
    count: int = 0
    where: str = ""


@dataclass(frozen=True)
class JobSize:
    """ranks: 0 if unknown. hosts: of each node, "" if no name is known. sizes: ranks of each."""

    ranks: int = 0
    hosts: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def most_per_node(self) -> int:
        return max(self.sizes, default=0)


def job_size(line: Sequence[str], family: Family, environ: Mapping[str, str]) -> JobSize:
    """Raises HeadraceError for a host file that cannot be read, or that names a node twice."""
    contexts = read_contexts(family, list(line))
    if family is SLURM:
        return _of_srun(contexts, environ)
    hosts = _hosts(contexts, family, environ)
    per_node = _per_node(contexts, family, environ)
    ranks = _ranks(contexts, family)
    if ranks == UNKNOWN:
        return JobSize()
    if not ranks:
        ranks = sum(per_node or one.count or 1 for one in hosts)
    if not hosts and family in (ALPS, PALS):
        per_node = per_node or ranks
        hosts = [Host("")] * (-(-ranks // per_node) if per_node else 0)
    if not hosts or not 0 < ranks <= MOST:
        return JobSize(min(ranks, MOST))
    return JobSize(ranks, *_filled(hosts, ranks, per_node))


def nodes_named(line: Sequence[str], family: Family) -> int:
    """How many nodes a line's own options name or ask for; 0 if they do not say."""
    contexts = read_contexts(family, list(line))
    if family is SLURM:
        return nodes_named_to_srun([option for one in contexts for option in one.options])
    names = (*HOST_LIST, *HOST_FILE)
    if any(option.name in names for one in contexts for option in one.options):
        return len({host.name for host in _hosts(contexts, family, {})})
    return 0


def _of_srun(contexts: Sequence[Context], environ: Mapping[str, str]) -> JobSize:
    ranks = _ranks(contexts, SLURM)
    if ranks == UNKNOWN:
        return JobSize()
    options = contexts[0].options
    ranks = min(ranks or tasks_by_default(options, environ), MOST)
    # Of several programs each may be on nodes of its own.
    known = ranks > 0 and len(contexts) == 1
    return JobSize(ranks, *placed(options, ranks, environ)) if known else JobSize(ranks)


def _ranks(contexts: Sequence[Context], family: Family) -> int:
    names = COUNT_OF_OPENMPI if family is OPENMPI else COUNT
    found = [
        next((_number(option) for option in reversed(one.options) if option.name in names), 0)
        for one in contexts
    ]
    if any(found) and not all(found):
        return UNKNOWN  # the launcher has a rule of its own for programs without a count
    return sum(found)


def _number(option: Option) -> int:
    return whole_number(option.values[-1]) if option.values else 0


def _per_node(contexts: Sequence[Context], family: Family, environ: Mapping[str, str]) -> int:
    names = PER_NODE.get(family.name, ())
    for option in (option for one in contexts for option in one.options):
        if option.name in names:
            return _number(option)
        if option.name in MAP_BY and option.values:
            found = re.match(r"ppr:(\d{1,8}):node\b", option.values[0], re.ASCII)
            if found:
                return int(found[1])
    if family is HYDRA:
        return whole_number(environ.get("I_MPI_PERHOST", "")) or whole_number(
            environ.get("MPIEXEC_PPN", "")
        )
    return 0


def _filled(
    hosts: Sequence[Host], ranks: int, per_node: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Nodes are filled in turn, again from the first if ranks are left."""
    sizes = [0] * len(hosts)
    left = ranks
    while left > 0:
        for number, host in enumerate(hosts):
            given = min(per_node or host.count or 1, left)
            sizes[number] += given
            left -= given
    used = [number for number, size in enumerate(sizes) if size]
    return tuple(hosts[number].name for number in used), tuple(sizes[number] for number in used)


def _hosts(contexts: Sequence[Context], family: Family, environ: Mapping[str, str]) -> list[Host]:
    for option in (option for one in contexts for option in one.options):
        if not option.values:
            continue
        if option.name in HOST_FILE:
            return _merged(host_file(Path(option.values[0])), family)
        if option.name in HOST_LIST:
            return _merged(_named(option.values[0], option.name), family)
    if family is HYDRA and environ.get("HYDRA_HOST_FILE"):
        return _merged(host_file(Path(environ["HYDRA_HOST_FILE"])), family)
    return _scheduled(environ)


def _named(text: str, where: str) -> list[Host]:
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


def _merged(hosts: Sequence[Host], family: Family) -> list[Host]:
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
    return found


def _scheduled(environ: Mapping[str, str]) -> list[Host]:
    """The nodes that a scheduler gave the job."""
    names = environ.get("SLURM_JOB_NODELIST") or environ.get("SLURM_NODELIST")
    if names:
        tasks = environ.get("SLURM_TASKS_PER_NODE") or environ.get("SLURM_NTASKS_PER_NODE", "")
        counts = task_counts(tasks)
        hosts = expanded(names)
        counts += [counts[-1] if counts else 0] * (len(hosts) - len(counts))
        return [Host(name, count) for name, count in zip(hosts, counts, strict=False)]
    if environ.get("PBS_NODEFILE"):
        return _merged(host_file(Path(environ["PBS_NODEFILE"])), OPENMPI)
    pairs = environ.get("LSB_MCPU_HOSTS", "").split()
    return [Host(n, whole_number(c)) for n, c in zip(pairs[::2], pairs[1::2], strict=False)]
