"""The nodes that a job was measured on, and on which others that may be taken to hold: pure.

src/collective/measured_nodes.h says why; a job uses a row only where it holds by that.
"""

from dataclasses import dataclass

# These spare bytes between nodes; others count on such nodes alone.
SPARES_BYTES = (
    *("bcast", "reduce", "allgather", "allgatherv"),
    *("reduce_scatter", "reduce_scatter_block"),
)


@dataclass(frozen=True, order=True)
class Nodes:
    """ranks: of each node; of the largest where they differ. crowded: ranks outnumber cores."""

    nodes: int
    ranks: int
    crowded: bool = False

    @property
    def key(self) -> str:
        """As a table's header has it."""
        shape = f"one.{self.ranks}" if self.nodes == 1 else f"several.{self.nodes}x{self.ranks}"
        return f"{shape}.crowded" if self.crowded else shape

    @property
    def text(self) -> str:
        nodes = "one node" if self.nodes == 1 else f"{self.nodes} nodes"
        cores = " with fewer cores" if self.crowded else ""
        return f"{nodes} of {_counted(self.ranks)}{cores}"

    @property
    def range_text(self) -> str:
        """Where what was measured here holds."""
        cores = " and fewer cores" if self.crowded else ""
        if self.nodes == 1:
            return f"one node with at most {_counted(self.ranks)}{cores}"
        nodes = "2 nodes" if self.nodes == 2 else f"2 to {self.nodes} nodes"
        return f"{nodes} with at least {_counted(self.ranks)} each{cores}"

    def holds_on(self, other: "Nodes", operation: str) -> bool:
        if self.crowded != other.crowded:
            return False
        if 1 in (self.nodes, other.nodes):
            return self.nodes == other.nodes and other.ranks <= self.ranks
        if operation not in SPARES_BYTES:
            return self == other
        return other.nodes <= self.nodes and other.ranks >= self.ranks


def _counted(ranks: int) -> str:
    return f"{ranks} rank{'s' if ranks > 1 else ''}"
