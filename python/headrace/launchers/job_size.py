"""How many ranks a launcher line starts, and on which nodes. The rules are those of Open MPI 5.0,
MPICH 5.0 and Intel MPI 2021.18, as these map ranks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace import machine
from headrace.launchers.families import ALPS, HYDRA, OPENMPI, PALS, SLURM, Family, options
from headrace.launchers.hosts import HOST_FILE, MACHINES, NAMING, Host, Nodes, nodes_of
from headrace.launchers.line import Context, Option, read_contexts
from headrace.launchers.slurm import MOST, dealt, placed, tasks_by_default, whole_number
from headrace.launchers.slurm import nodes_named as nodes_named_to_srun

COUNT = frozenset(("-n", "--n", "-np", "--np", "--ntasks"))
COUNT_OF_OPENMPI = COUNT | {"-c", "--c"}
PER_NODE = {
    HYDRA.name: ("-ppn", "--ppn", "-perhost", "--perhost", "-grr", "--grr"),
    OPENMPI.name: ("-npernode", "--npernode", "-N", "--N"),
    ALPS.name: ("-N",),
    PALS.name: ("-ppn", "--ppn"),
}
ONE_PER_NODE = {
    HYDRA.name: ("-rr", "--rr"),
    OPENMPI.name: ("-pernode", "--pernode"),
}
MAP_BY = ("-map-by", "--map-by", "-mapby", "--mapby")
BY_NODE = ("-bynode", "--bynode")
# With these the launcher has rules of its own for how many ranks a node gets.
DECIDING = {
    HYDRA.name: options("rankmap configfile order-nodes nolocal skip-launch-node", "- --"),
    OPENMPI.name: options(
        "npersocket ppr rf rankfile bysocket nolocal cpu-set cpu-list slot-list cpus-per-proc "
        "cpus-per-rank app",
        "- --",
    ),
}
# What --map-by has before its modifiers, where nodes are filled up to their slots.
CORES = {"core", "hwthread"}
COUNTED = r"slot|node|ppr:\d+:node"
REARRANGING = {"span", "nolocal"}
BIND_TO = ("-bind-to", "--bind-to")
HARDWARE_THREADS = ("-use-hwthread-cpus", "--use-hwthread-cpus")
EXCEEDING = ("-oversubscribe", "--oversubscribe")
EACH_NODE = (*PER_NODE[OPENMPI.name], *ONE_PER_NODE[OPENMPI.name])
DEALT, OTHERWISE = "dealt", "otherwise"
PER_NODE_OF_INTEL = ("I_MPI_PERHOST", "HYDRA_PPN")
UNKNOWN = -1  # ranks that no count tells


@dataclass(frozen=True)
class JobSize:
    """ranks: 0 if unknown. hosts: of each node, "" if no name is known. sizes: ranks of each, none
    if that is not known."""

    ranks: int = 0
    hosts: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def most_per_node(self) -> int:
        return max(self.sizes, default=0)


def job_size(
    line: Sequence[str], family: Family, environ: Mapping[str, str], version: str = ""
) -> JobSize:
    """version: what hydra's `--version` prints. Nodes are taken to have as many cores as this one.
    Raises HeadraceError for a host file that cannot be read, or that names a node twice."""
    contexts = read_contexts(family, list(line))
    if family is SLURM:
        return _of_srun(contexts, environ)
    is_intel = family is HYDRA and is_intels(version)
    nodes = nodes_of(contexts, family, environ, is_intel)
    per_node = _per_node(contexts, family, environ, is_intel)
    ranks = _ranks(contexts, family)
    if ranks == UNKNOWN:
        return JobSize()
    ranks = min(ranks, MOST)
    if not nodes.hosts and family in (ALPS, PALS):
        per_node = per_node or ranks
        nodes = Nodes((Host(""),) * (-(-ranks // per_node) if per_node else 0))
    ways = _ways(contexts, family)
    room = _room(nodes, family, per_node, is_intel) if OTHERWISE not in ways else []
    ranks = min(ranks or sum(room), MOST)
    names = tuple(host.name for host in nodes.hosts)
    if not ranks or not names:
        return JobSize(ranks)
    if len(names) == 1:
        return JobSize(ranks, names, (ranks,))
    if family is OPENMPI and ranks > sum(room):
        room = []  # how it exceeds them depends on cores, too
    if not room or ranks == MOST:
        return JobSize(ranks, names)
    sizes = dealt(ranks, room) if DEALT in ways else _filled(room, ranks)
    # Slots that are all filled leave nothing to decide.
    cores = _cores_each(contexts) * max(sizes) if family is OPENMPI and ranks < sum(room) else 0
    if cores > machine.available_cores():
        return JobSize(ranks, names)
    used = [number for number, size in enumerate(sizes) if size]
    return JobSize(ranks, tuple(names[n] for n in used), tuple(sizes[n] for n in used))


def is_intels(version: str) -> bool:
    """Whether hydra is Intel MPI's, by what its `--version` prints."""
    return "Intel(R) MPI" in version


def nodes_named(line: Sequence[str], family: Family) -> int:
    """How many nodes a line's own options name or ask for; 0 if they do not say."""
    contexts = read_contexts(family, list(line))
    if family is SLURM:
        return nodes_named_to_srun([option for one in contexts for option in one.options])
    if any(option.name in NAMING for one in contexts for option in one.options):
        return len(nodes_of(contexts, family, {}, is_intel=False).hosts)
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


def _per_node(
    contexts: Sequence[Context], family: Family, environ: Mapping[str, str], is_intel: bool
) -> int:
    for option in (option for one in contexts for option in one.options):
        if option.name in PER_NODE.get(family.name, ()):
            return _number(option)
        if option.name in ONE_PER_NODE.get(family.name, ()):
            return 1
        if family is OPENMPI and option.name in MAP_BY:
            mapping, _ = mapped_by(option)
            found = re.fullmatch(r"ppr:(\d{1,8}):node", mapping, re.ASCII)
            if found:
                return int(found[1])
    values = (environ.get(name, "") for name in PER_NODE_OF_INTEL) if is_intel else ()
    return next(filter(None, map(whole_number, values)), 0)


def mapped_by(option: Option) -> tuple[str, list[str]]:
    """What a --map-by has before its modifiers, in small letters, and these as they are."""
    words = option.values[0].split(":")
    count = 3 if words[0].lower() == "ppr" else 1
    return ":".join(words[:count]).lower(), words[count:]


def _ways(contexts: Sequence[Context], family: Family) -> set[str]:
    """How ranks are given to nodes if these are not filled in turn."""
    given = [option for one in contexts for option in one.options]
    found = set()
    if any(option.name in DECIDING.get(family.name, ()) for option in given):
        found.add(OTHERWISE)
    if family is not OPENMPI:
        return found
    mapped = [mapped_by(option) for option in given if option.name in MAP_BY]
    modifiers = {word.lower() for _, words in mapped for word in words}
    mappings = {mapping for mapping, _ in mapped if mapping}
    if "node" in mappings or any(option.name in BY_NODE for option in given):
        found.add(DEALT)
    if any(re.fullmatch(COUNTED, one) is None for one in mappings - CORES):
        found.add(OTHERWISE)
    # Where ranks are mapped to cores, all may then go to the first node.
    exceeds = "oversubscribe" in modifiers or any(one.name in EXCEEDING for one in given)
    has_own = DEALT in found or mappings - CORES or any(one.name in EACH_NODE for one in given)
    if modifiers & REARRANGING or (exceeds and not has_own):
        found.add(OTHERWISE)
    return found


def _cores_each(contexts: Sequence[Context]) -> int:
    """How many cores Open MPI wants for each rank that a node takes before the next one does; 0 if
    it goes by slots alone."""
    given = [option for one in contexts for option in one.options]
    mapped = [mapped_by(option) for option in given if option.name in MAP_BY]
    mappings = {mapping for mapping, _ in mapped if mapping}
    modifiers = {word.lower() for _, words in mapped for word in words}
    bindings = {one.values[0].lower() for one in given if one.name in BIND_TO and one.values}
    by_node = any(re.fullmatch(r"node|ppr:.*", one) for one in mappings)
    if by_node or any(one.name in (*EACH_NODE, *BY_NODE) for one in given):
        return 0
    several = [whole_number(word[3:]) for word in modifiers if word.startswith("pe=")]
    if any(several):
        return max(several)
    takes_threads = any(one.name in HARDWARE_THREADS for one in given)
    is_by_slot = mappings == {"slot"} and not (bindings or takes_threads)
    return 0 if bindings == {"none"} or is_by_slot else 1


def _room(nodes: Nodes, family: Family, per_node: int, is_intel: bool) -> list[int]:
    """How many ranks each node takes before the next one does. None if it is not clear, or as many
    as a node has cores."""
    counts = [host.count for host in nodes.hosts]
    is_machine_file = nodes.source in MACHINES
    if not nodes.is_clear:
        return []
    if per_node and not (is_intel and is_machine_file):
        return [per_node] * len(counts)
    if is_intel and nodes.source and not is_machine_file:
        return []  # it reads no counts there
    if family is OPENMPI and nodes.source in HOST_FILE and not all(counts):
        return []
    return [count or 1 for count in counts]


def _filled(room: Sequence[int], ranks: int) -> list[int]:
    """Nodes are filled in turn, again from the first if ranks are left."""
    rounds, left = divmod(ranks, sum(room))
    sizes = [rounds * one for one in room]
    for number, one in enumerate(room):
        given = min(one, left)
        sizes[number] += given
        left -= given
    return sizes
