"""One sentence on a run."""

from headrace.analysis.analyse import Findings

ACCEPTABLE = 0.8  # POP's limit, for each efficiency


def verdict(found: Findings) -> str:
    one = found.efficiency
    if one is None:
        return "The record tells no time outside MPI, so nothing can be said of efficiency."
    share = found.share(found.in_mpi.total)
    if one.parallel >= ACCEPTABLE:
        return (
            f"Parallel efficiency is {one.parallel:.0%}, which is good{_costliest(found, share)}."
        )
    weaker = (
        "ranks compute unequally long (load balance"
        if one.load_balance < one.communication
        else "ranks are too long in MPI (communication efficiency"
    )
    worst = min(one.load_balance, one.communication)
    return (
        f"Parallel efficiency is {one.parallel:.0%}, below POP's {ACCEPTABLE:.0%}: {weaker} "
        f"{worst:.0%}){_costliest(found, share)}."
    )


def _costliest(found: Findings, share: float) -> str:
    names = [one for one in found.procedures if one.in_run and one.sums.time]
    if not names:
        return "; no time was spent in MPI"
    first = names[0]
    part = found.share(first.sums.time)
    return (
        f"; MPI takes {share:.0%} of the time, {first.name} the largest part of that ({part:.0%})"
    )
