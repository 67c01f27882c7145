"""The least that nodes must send in a collective operation: pure.

It counts data alone, without headers. A block that another node needs goes there once. Of what is
added up, each node's part of each element is a message of one element: all others' must come to the
nodes that need the sum. Reduce to one node so takes N - 1 of N nodes, and a sum that all nodes get
2 (N - 1), as many as gossip by one-way messages (Harary, Schwenk, "The communication problem on
graphs and digraphs", J. Franklin Institute 297, 1974). Results of elements are computed from one
another nowhere, and nothing is compressed.
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
