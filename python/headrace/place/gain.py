"""What the best order of a record's ranks would keep within nodes, as a metric for advice."""

from headrace.errors import HeadraceError
from headrace.record.tables import Record

MOST_PAIRS = 1 << 18  # of ranks that talk: more take longer than a report may
ON_NODE = "computed_on_node_share"


def order_metrics(record: Record) -> dict[str, float]:
    """Empty where no order is to be had, or where it would take long ('headrace place' does it)."""
    if len(record.nodes) < 2:
        return {}
    # Here, since they need NumPy, which takes a tenth of a second to load.
    from headrace.place import compute
    from headrace.place.of_record import of_record

    try:
        found = of_record(record)
    except HeadraceError:
        return {}  # an incomplete record
    total = int(found.graph.sent.sum())
    if not 0 < len(found.graph.first) <= MOST_PAIRS or total == 0:
        return {}
    choice = compute.choose(found.graph, found.sizes, known={compute.TODAY: found.node_of_rank})
    return {ON_NODE: 1 - choice.of(compute.COMPUTED).sent / total}
