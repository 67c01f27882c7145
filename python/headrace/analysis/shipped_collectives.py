"""Collective calls that Headrace would carry out by the table that comes with it, and has not."""

import re
from collections.abc import Iterable

from headrace.analysis.calls import Sums
from headrace.analysis.generated.collective_uses import USES, Use
from headrace.analysis.run import Run
from headrace.analysis.settings import Setting
from headrace.settings.reading import YES

_NOTHING = ("", "0")


def uses_for(run: Run, chosen: Iterable[Setting]) -> tuple[Use, ...]:
    """The rows that count in such a run. A table of the user's own may be on another machine than
    the report, so nothing is said of it."""
    values = {one.name: one.value for one in chosen}
    is_on = values.get("HEADRACE_COLLECTIVES", "") in YES
    by_user = (values.get(name, "") for name in ("HEADRACE_COLL_TABLE", "HEADRACE_COLL_OFF"))
    if is_on or run.nodes != 1 or any(value not in _NOTHING for value in by_user):
        return ()
    return tuple(use for use in USES if 1 < run.count <= use.ranks and _is_of(use, run.mpi))


def _is_of(use: Use, says: str) -> bool:
    return re.match(rf"{re.escape(use.says)}\s*{use.major}(?!\d)", says) is not None


def is_carried_out(uses: Iterable[Use], run: Run, procedure: str, sums: Sums) -> bool:
    """Whether calls of that average size are. It is not known if that is of a block or of all."""
    if not sums.calls:
        return False
    size = sums.bytes / sums.calls
    operation = procedure.removeprefix("MPI_").removesuffix("_c").lower()
    return any(
        use.operation == operation and use.least <= size / run.count and size <= use.most
        for use in uses
    )
