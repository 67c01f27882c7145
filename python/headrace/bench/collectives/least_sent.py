"""The least that nodes must send in a collective operation: pure.

It counts data alone, without headers, and takes for granted that nobody compresses it. A block
goes once to each node that needs it. Of an element that is added up, what a node has goes in
messages of one element: N - 1 of them bring what N nodes have to one, and 2 (N - 1) to all, as
gossip by one-way messages takes (Harary, Schwenk, "The communication problem on graphs and
digraphs", J. Franklin Institute 297, 1974).
"""

from collections.abc import Sequence


def least_sent(operation: str, block: int, node_sizes: Sequence[int]) -> int:
    """Bytes that all nodes send together in one call.

    block: bytes of a rank's block (bcast, reduce, allreduce: of all the data).
    node_sizes: ranks on each node, that of the root first. Raises KeyError for other operations.
    """
    ranks, others = sum(node_sizes), len(node_sizes) - 1
    in_blocks = {
        "barrier": 0,
        "bcast": others,
        "reduce": others,
        "allreduce": 2 * others,
        # Each rank's block goes to each other node; or each rank's sum needs each other node's.
        **dict.fromkeys(
            ("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block"), ranks * others
        ),
        **dict.fromkeys(("gather", "gatherv", "scatter", "scatterv"), ranks - node_sizes[0]),
        # A block for each pair of ranks that are on different nodes, in both directions.
        **dict.fromkeys(
            ("alltoall", "alltoallv", "alltoallw"), ranks**2 - sum(one**2 for one in node_sizes)
        ),
    }
    return block * in_blocks[operation]
