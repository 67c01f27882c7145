"""One sentence on a run. The core says the same at the end of the job, from the same texts."""

from headrace.analysis.analyse import Findings
from headrace.analysis.generated.verdict_texts import ACCEPTABLE, TEXTS
from headrace.analysis.metrics import NS


def verdict(found: Findings) -> str:
    if found.in_mpi is None:
        return _of_io(found)
    one = found.efficiency
    if not found.run.is_end_known:
        return TEXTS["ended_early"].format(heard=f"{found.run.elapsed / NS:.3g} s")
    if one is None:
        return TEXTS["unknown"]
    name = (
        "good"
        if one.parallel >= ACCEPTABLE
        else "unequal"
        if one.load_balance < one.communication
        else "in_mpi"
    )
    return TEXTS[name].format(
        parallel=f"{one.parallel:.0%}",
        acceptable=f"{ACCEPTABLE:.0%}",
        worst=f"{min(one.load_balance, one.communication):.0%}",
        costliest=_costliest(found, found.share(found.in_mpi.total)),
    )


def _of_io(found: Findings) -> str:
    """Of a run of which I/O alone is known."""
    spent = found.classes[0].balance if found.classes else None
    if spent is None or not spent.total or not found.run.elapsed:
        return f"The {found.source.name} has no time in I/O."
    slowest = min(1.0, spent.greatest / found.run.elapsed)
    return (
        f"I/O takes {found.share(spent.total):.1%} of the ranks' time, and {slowest:.0%} of that "
        "of the rank that is in it longest; computing and messages were not measured."
    )


def _costliest(found: Findings, share: float) -> str:
    names = [one for one in found.procedures if one.in_run and one.sums.time]
    if not names:
        return TEXTS["no_cost"]
    first = names[0]
    return TEXTS["costliest"].format(
        share=f"{share:.0%}",
        procedure=first.name,
        part=f"{found.share(first.balance.total):.0%}",
    )


def efficiency_line(found: Findings) -> str:
    """Empty if nothing can be said of it."""
    one = found.efficiency
    if one is None:
        return ""
    return TEXTS["efficiency"].format(
        parallel=f"{one.parallel:.3f}",
        balance=f"{one.load_balance:.3f}",
        communication=f"{one.communication:.3f}",
    )
