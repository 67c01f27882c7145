"""From what a user asks for, 0, 1, 2, 3, auto or a file, to the order of this job's ranks."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headrace.errors import HeadraceError, message
from headrace.launchers.job_size import JobSize
from headrace.place import compute, order_file, orders
from headrace.place.of_record import of_record
from headrace.record.reader import read
from headrace.record.sections import MAGIC

FILE, AUTO = "3", "auto"


@dataclass(frozen=True)
class Wanted:
    """order: None if ranks stay as they are. why: a line for people."""

    order: np.ndarray | None
    why: str


def wanted(asked: str, file: str, records: Path, size: JobSize) -> Wanted:
    """file: what order 3 is read from. records: where auto looks for the record of a run."""
    if not size.sizes:
        raise HeadraceError(
            f"rank order {asked} cannot be applied",
            "neither the launcher line nor a scheduler tells the nodes and the ranks of each",
            "give the launcher a number of ranks, and each node once with its own (n0:4, slots=4 "
            "or -ppn 4; for Intel MPI -ppn 4, or -machinefile with n0:4), "
            "or leave --rank-order out",
        )
    if asked in orders.NUMBERED:
        return Wanted(orders.numbered(asked, size.sizes), f"order {asked}, {orders.TITLES[asked]}")
    if asked == AUTO:
        return _automatic(records, size)
    path = Path(file if asked == FILE else asked)
    if asked != FILE and not path.exists():
        raise HeadraceError(
            f"rank order {asked} is not known",
            "it is none of 0, 1, 2, 3 and auto, and no file has this name",
            "give one of these, or the name of an order's file or a record",
        )
    if _is_record(path):
        return _computed(path, size)
    return Wanted(order_file.read(path, size.ranks), f"order of '{path}'")


def _is_record(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _automatic(records: Path, size: JobSize) -> Wanted:
    """From the newest record that gives an order; says which newer ones do not."""
    newest, *others = _latest(records, size.ranks)
    try:
        return _computed(newest, size)
    except HeadraceError as error:
        first = error
    for path in others:
        try:
            found = _computed(path, size)
        except HeadraceError:
            continue
        skipped = f"'{newest}' is left out ({first}), an older record is used"
        return Wanted(found.order, f"{found.why}; {skipped}")
    raise first


def _latest(records: Path, ranks: int) -> list[Path]:
    """The records of as many ranks, the newest first."""
    found = sorted(
        (path for path in records.glob(f"*.{ranks}p*n.*hrc") if path.is_file()),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    if not found:
        raise HeadraceError(
            "rank order auto cannot be computed",
            f"'{records}' has no record of a run with {ranks} ranks",
            "run the job once in its own order",
        )
    return found


def _computed(path: Path, size: JobSize) -> Wanted:
    recorded = of_record(read(path))
    if recorded.graph.ranks != size.ranks:
        raise HeadraceError(
            f"'{path}' gives no order for this job",
            f"its run had {recorded.graph.ranks} ranks, and the job has {size.ranks}",
            f"record a run with {size.ranks} ranks",
        )
    choice = compute.choose(recorded.graph, size.sizes)
    if choice.is_refused:
        why = message(
            "ranks stay as they are",
            f"the best order for '{path}' sends {100 * choice.gain:.1f} % less between nodes",
            "an order is changed for a tenth or more",
        )
        return Wanted(None, why)
    return Wanted(
        choice.slots,
        f"order computed from '{path}' ({choice.way}), which sends {100 * choice.gain:.1f} % less "
        "between nodes",
    )
