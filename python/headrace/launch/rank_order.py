"""Puts ranks on nodes in an order, by what each launcher offers. Pure but for files that are read.

hydra takes the node of each rank (-rankmap), Intel MPI a machine file that names nodes in the order
of ranks, Open MPI the same with --map-by seq, Slurm with -m arbitrary, and Cray's MPI the order
itself.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from headrace.errors import HeadraceError
from headrace.launch.ordered_line import Ordered, is_crays
from headrace.launchers.families import HYDRA, OPENMPI, SLURM, Family, options
from headrace.launchers.hosts import NAMING
from headrace.launchers.job_size import (
    BY_NODE,
    MAP_BY,
    ONE_PER_NODE,
    PER_NODE,
    JobSize,
    is_intels,
    mapped_by,
)
from headrace.launchers.line import Option, read_contexts
from headrace.place import order_file, orders

REMOVED = {
    HYDRA.name: {*NAMING, *PER_NODE[HYDRA.name], *ONE_PER_NODE[HYDRA.name]},
    OPENMPI.name: {
        *NAMING,
        *PER_NODE[OPENMPI.name],
        *ONE_PER_NODE[OPENMPI.name],
        *MAP_BY,
        *BY_NODE,
        *options("byslot bycore rank-by rankby", "- --"),
    },
}
# Modifiers of --map-by that Open MPI's seq has, too.
KEPT = ("oversubscribe", "nooversubscribe", "hwtcpus", "corecpus", "inherit", "noinherit")
DISTRIBUTION = ("-m", "--distribution")
MOST_TOLD = 64  # nodes that are shown one by one


def apply(
    line: Sequence[str],
    family: Family,
    order: np.ndarray,
    size: JobSize,
    *,
    version: str,
    folder: Path,
    environ: Mapping[str, str],
) -> Ordered:
    """`line` such that ranks take the places of `size` in `order`.

    version: what hydra's `--version` and `--help` print. folder: where a file for the launcher is
    to be. Raises HeadraceError for a launcher that takes no order.
    """
    node_of_rank = orders.nodes(order, size.sizes)
    if is_crays(family, environ):
        return _for_cray(line, order, size, folder)
    hosts = [size.hosts[node] for node in node_of_rank.tolist()]
    if family is HYDRA:
        return _for_hydra(line, node_of_rank.tolist(), hosts, version, folder)
    if family is OPENMPI:
        return _for_openmpi(line, hosts, folder)
    if family is SLURM:
        return _for_slurm(line, hosts, folder)
    raise HeadraceError(
        f"'{line[0]}' takes no rank order",
        "Headrace knows no option of it for this",
        "leave --rank-order out, or start the job by mpiexec, mpirun, srun or aprun",
    )


def told(order: np.ndarray, size: JobSize) -> list[str]:
    """A line for each node, with its ranks."""
    lines = []
    start = 0
    for number, count in enumerate(size.sizes[:MOST_TOLD]):
        name = size.hosts[number] or f"node {number}"
        ranks = ",".join(order_file.entries(order[start : start + count].tolist()))
        lines.append(f"{name}: ranks {ranks}")
        start += count
    if len(size.sizes) > MOST_TOLD:
        lines.append(f"and {len(size.sizes) - MOST_TOLD} more nodes")
    return lines


def _for_cray(line: Sequence[str], order: np.ndarray, size: JobSize, folder: Path) -> Ordered:
    for number in orders.NUMBERED:
        if np.array_equal(order, orders.numbered(number, size.sizes)):
            return Ordered(list(line), {"MPICH_RANK_REORDER_METHOD": number})
    text = order_file.written(order, size.sizes)
    path = _named(folder, "order", text)
    variables = {"MPICH_RANK_REORDER_METHOD": "3", "MPICH_RANK_REORDER_FILE": str(path)}
    return Ordered(list(line), variables, (path, text))


def _for_hydra(
    line: Sequence[str], nodes: Sequence[int], hosts: Sequence[str], version: str, folder: Path
) -> Ordered:
    if is_intels(version):
        text = "".join(f"{host}:{len(list(same))}\n" for host, same in groupby(hosts))
        path = _named(folder, "machines", text)
        kept = _without(line, HYDRA, REMOVED[HYDRA.name])
        return Ordered([kept[0], "-machinefile", str(path), *kept[1:]], file=(path, text))
    if "-rankmap" not in version:
        raise HeadraceError(
            f"'{line[0]}' takes no rank order",
            "this version of hydra has no option -rankmap",
            "use the mpiexec of MPICH 5, or leave --rank-order out",
        )
    return Ordered([line[0], "-rankmap", rank_map(nodes), *line[1:]])


def rank_map(nodes: Sequence[int]) -> str:
    """hydra's: the node of each rank, and (first, nodes, ranks) for nodes that follow one another
    with as many ranks each."""
    runs = [[node, 1, len(list(same))] for node, same in groupby(nodes)]
    blocks: list[list[int]] = []
    for node, _, count in runs:
        if blocks and blocks[-1][0] + blocks[-1][1] == node and blocks[-1][2] == count:
            blocks[-1][1] += 1
        else:
            blocks.append([node, 1, count])
    return ",".join(
        str(node) if number * count == 1 else f"({node},{number},{count})"
        for node, number, count in blocks
    )


def nodes_text(nodes: Sequence[int]) -> str:
    """The node of each rank as HEADRACE_RANK_NODES has it: 0*2,1*2."""
    runs = [(node, len(list(same))) for node, same in groupby(nodes)]
    return ",".join(str(node) if count == 1 else f"{node}*{count}" for node, count in runs)


def _for_openmpi(line: Sequence[str], hosts: Sequence[str], folder: Path) -> Ordered:
    _refuse_contexts(line, OPENMPI)
    (context,) = read_contexts(OPENMPI, list(line))
    modifiers = ""
    for option in _options(context.options, MAP_BY):
        for word in mapped_by(option)[1]:
            if word.lower() not in KEPT:
                raise HeadraceError(
                    f"--map-by {option.values[0]} takes no rank order",
                    f"an order is given by --map-by seq, which has no {word}",
                    f"leave {word} or --rank-order out",
                )
            modifiers += f":{word}"
    text = "".join(f"{host}\n" for host in hosts)
    path = _named(folder, "hosts", text)
    kept = _without(line, OPENMPI, REMOVED[OPENMPI.name])
    return Ordered(
        [kept[0], "--hostfile", str(path), "--map-by", f"seq{modifiers}", *kept[1:]],
        file=(path, text),
    )


def _for_slurm(line: Sequence[str], hosts: Sequence[str], folder: Path) -> Ordered:
    _refuse_contexts(line, SLURM)
    text = "".join(f"{host}\n" for host in hosts)
    path = _named(folder, "hosts", text)
    kept = _without(line, SLURM, frozenset((*DISTRIBUTION, "-w", "--nodelist")))
    return Ordered(
        [kept[0], "-m", "arbitrary", *kept[1:]], {"SLURM_HOSTFILE": str(path)}, (path, text)
    )


def _refuse_contexts(line: Sequence[str], family: Family) -> None:
    if len(read_contexts(family, list(line))) > 1:
        raise HeadraceError(
            f"'{line[0]}' takes no rank order for several programs",
            "it maps each program by itself",
            "start them as one program, or leave --rank-order out",
        )


def _without(line: Sequence[str], family: Family, names: Iterable[str]) -> list[str]:
    left = dict(enumerate(line))
    for context in read_contexts(family, list(line)):
        for option in _options(context.options, names):
            for index in range(option.start, option.end):
                del left[index]
            beside = [
                one.name[1:]
                for one in context.options
                if one.start == option.start and one is not option
            ]
            if beside:  # letters that shared its token
                left[option.start] = "-" + "".join(beside)
    return [left[index] for index in sorted(left)]


def _options(options: Iterable[Option], names: Iterable[str]) -> list[Option]:
    return [option for option in options if option.name in names]


def _named(folder: Path, kind: str, text: str) -> Path:
    """The same order has the same file, so that files do not pile up."""
    return folder / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
