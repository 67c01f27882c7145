"""How many ranks each node takes, as users write it."""

import re
from collections.abc import Sequence

import numpy as np

from headrace.errors import HeadraceError
from headrace.place.grid import MOST_RANKS

NODE = re.compile(r"(?:(?P<name>[^:,]+):)?(?P<size>\d{1,9})", re.ASCII)
SHARE = re.compile(r"(?P<name>[^:,]+):(?P<size>\d{1,9})", re.ASCII)


def sizes_of(ranks: int, per_node: int | None, text: str | None) -> list[int]:
    """The ranks of each node. text: a number of nodes, or a list such as n0:4,n1:4,n2:2; with
    per_node, ranks of each but the last, which has the rest."""
    if text is None:
        if per_node is None or per_node < 1:
            raise HeadraceError(
                "the nodes are not known",
                "an order puts ranks on nodes",
                "give --ranks-per-node N or --nodes",
            )
        full, rest = divmod(ranks, per_node)
        return [per_node] * full + ([rest] if rest else [])
    if text.isascii() and text.isdigit() and len(text) < 10:
        return _shared_out(ranks, per_node, int(text))
    found = [NODE.fullmatch(word) for word in text.split(",")]
    sizes = [int(one["size"]) for one in found if one is not None]
    if len(sizes) != len(found) or not all(sizes):
        raise HeadraceError(
            f"--nodes {text[:80]} is not understood",
            "it is neither a number of nodes nor a list of their ranks",
            "give for example 4, or n0:8,n1:8,n2:4",
        )
    if sum(sizes) != ranks:
        raise _other_size(f"--nodes {text[:80]}", sum(sizes), ranks)
    return sizes


def _shared_out(ranks: int, per_node: int | None, nodes: int) -> list[int]:
    if not 0 < nodes <= ranks:
        raise _other_size(f"--nodes {nodes}", nodes, ranks)
    if per_node is not None and nodes * per_node != ranks:
        raise _other_size(f"--nodes {nodes} --ranks-per-node {per_node}", nodes * per_node, ranks)
    each, rest = divmod(ranks, nodes)
    return [each + (number < rest) for number in range(nodes)]


def _other_size(what: str, places: int, ranks: int) -> HeadraceError:
    return HeadraceError(
        f"{what} does not fit", f"it has {places} places for {ranks} ranks", "give as many"
    )


def read_interleave(text: str) -> list[tuple[str, int]]:
    """`A:8,B:56` as names with the ranks that each has on a node."""
    found = [SHARE.fullmatch(word) for word in text.split(",")]
    shares = [(one["name"], int(one["size"])) for one in found if one is not None]
    if len(shares) != len(found) or not all(size for _, size in shares):
        raise HeadraceError(
            f"--interleave {text[:80]} is not understood",
            "it is not programs with their ranks on a node",
            "give for example A:8,B:56",
        )
    if sum(size for _, size in shares) > MOST_RANKS:
        raise HeadraceError(
            f"--interleave {text[:80]} is too large", "no node has so many", "give less"
        )
    return shares


def interleaved(
    shares: Sequence[tuple[str, int]], kinds: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """The node of each rank, and the nodes' sizes, if each node has its share of each program,
    whose ranks fill node after node. kinds: the number of each rank's program."""
    each = sum(size for _, size in shares)
    nodes = len(kinds) // each
    found = np.empty(len(kinds), dtype=np.int64)
    for number, (name, size) in enumerate(shares):
        ranks = np.flatnonzero(kinds == number)
        if len(ranks) != nodes * size:
            raise HeadraceError(
                f"--interleave {name}:{size} does not fit",
                f"{name} has {len(ranks)} ranks, and {nodes} nodes would take {nodes * size}",
                "give shares in proportion to the ranks of the programs",
            )
        found[ranks] = np.repeat(np.arange(nodes), size)
    return found, [each] * nodes


def in_turn(shares: Sequence[tuple[str, int]], ranks: int) -> np.ndarray:
    """The program of each rank, if those of the first program come first, and so on."""
    each = sum(size for _, size in shares)
    nodes, rest = divmod(ranks, each)
    if rest or nodes == 0:
        raise HeadraceError(
            f"{ranks} ranks do not fit --interleave",
            f"a node has {each} of them, and {rest} would be left",
            f"give a number of ranks that is a multiple of {each}",
        )
    return np.repeat(np.arange(len(shares)), [nodes * size for _, size in shares])
