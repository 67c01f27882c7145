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
    """ranks: of each node; of the largest where they differ. Of one node any number counts."""

    nodes: int
    ranks: int

    @classmethod
    def of(cls, nodes: int, ranks: int) -> "Nodes":
        return cls(nodes, ranks if nodes > 1 else 0)

    @property
    def key(self) -> str:
        """As a table's header has it."""
        return "one" if self.nodes == 1 else f"several.{self.nodes}x{self.ranks}"

    @property
    def text(self) -> str:
        if self.nodes == 1:
            return "one node"
        return f"{self.nodes} nodes of {self.ranks} rank{'s' if self.ranks > 1 else ''}"

    @property
    def range_text(self) -> str:
        """Where what was measured here holds."""
        if self.nodes == 1:
            return "one node"
        nodes = "2 nodes" if self.nodes == 2 else f"2 to {self.nodes} nodes"
        return f"{nodes} with at least {self.ranks} rank{'s' if self.ranks > 1 else ''} each"

    def holds_on(self, other: "Nodes", operation: str) -> bool:
        if 1 in (self.nodes, other.nodes):
            return self.nodes == other.nodes
        if operation not in SPARES_BYTES:
            return self == other
        return other.nodes <= self.nodes and other.ranks >= self.ranks
