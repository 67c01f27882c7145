"""Orders and what they cost -> text and JSON."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace.place.compute import COMPUTED, INTERLEAVED, TODAY, Choice, Priced
from headrace.place.order_file import entries
from headrace.place.orders import TITLES
from headrace.report.units import percent, size

FILE = "file"
MEANINGS = {
    **TITLES,
    TODAY: "as the run had it",
    INTERLEAVED: "programs share nodes, node by node",
    FILE: "the file that was checked",
}


def document(choice: Choice) -> dict[str, object]:
    """All numbers. docs/placement.md explains them."""
    return {
        "ranks": len(choice.slots),
        "ranks_per_node": list(choice.sizes),
        "orders": [
            {
                "order": one.name,
                "edges_between_nodes": one.cost.edges,
                "bytes_between_nodes": one.cost.sent,
            }
            for one in choice.orders
        ],
        "computed": {
            "way": choice.way,
            "against": choice.against,
            "gain": round(choice.gain, 6),
            "refused": choice.is_refused,
            "order": ",".join(entries(choice.slots.tolist())),
        },
    }


def answer(choice: Choice) -> str:
    """The first line, which must suffice."""
    best = choice.of(COMPUTED)
    before = f"order {choice.against}" if choice.against.isdigit() else f"'{choice.against}'"
    saved = percent(100 * choice.gain)
    if choice.is_refused:
        return (
            f"Keep {before}: the best order found sends {saved} less between nodes, and an order "
            "is changed for a tenth or more."
        )
    if choice.gain <= 0:  # of programs that share nodes, which is what was asked for
        return (
            f"No order was found that sends less between nodes than {before}, so that one is taken."
        )
    return (
        f"The computed order sends {saved} less between nodes than {before}: "
        f"{best.edges:,} pairs of ranks talk between nodes in place of "
        f"{choice.of(choice.against).edges:,}."
    )


def show(out: Console, choice: Choice, notes: list[str]) -> None:
    for line in (answer(choice), *notes):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    made = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for header in ("order", "", "pairs between nodes", "bytes between nodes", "of the most"):
        made.add_column(header, justify="left" if header in ("order", "") else "right")
    greatest = max((one.cost.sent for one in choice.orders), default=0)
    for one in choice.orders:
        made.add_row(*map(Text, _row(one, choice, greatest)))
    out.print(made, highlight=False)


def _row(one: Priced, choice: Choice, greatest: int) -> tuple[str, ...]:
    meaning = choice.way if one.name == COMPUTED else MEANINGS.get(one.name, "")
    share = percent(100 * one.cost.sent / greatest) if greatest else "-"
    return one.name, meaning, f"{one.cost.edges:,}", size(one.cost.sent), share
