"""How far the numbers can be trusted: what was not measured, folded, estimated, or is missing."""

from headrace.analysis.analyse import Findings
from headrace.analysis.waiting import Waits
from headrace.report.units import seconds, short_time
from headrace.symbols.resolver import GONE, REBUILT, Symbols
from headrace.texts import shown

LONGEST_NOTE = 400


def quality(found: Findings, symbols: Symbols) -> list[str]:
    one = found.quality
    lines = [f"INCOMPLETE: {shown(why)}" for why in found.run.lacks]
    if found.in_mpi is not None and len(found.run.ranks) < found.run.count:
        lines.append(
            "ranks are missing: if they ran on other nodes, type 'headrace record gather' on each "
            "of these, and give 'headrace report' all records"
        )
    if one.lost_calls:
        lines.append(
            f"not counted: {one.lost_calls:,} calls or more, for which there was no room: raise "
            "HEADRACE_RECORD_MEMORY"
        )
    if one.off:
        lines.append(
            f"not counted: calls while the program had recording off, {seconds(one.off)} of a rank "
            "at most; the run's time is without these"
        )
    if one.unsized:
        lines.append(
            f"bytes: {one.unsized:,} receives count as 0 bytes, as the program gave no statuses "
            "for them and wants its errors back"
        )
    if one.python:
        lines.append(
            f"lines of Python: not known for this one, {shown(one.python)} (only the frames of "
            "CPython 3.11 to 3.14 with its global lock can be read): calls are shown by the "
            "interpreter's functions"
        )
    if one.mismatched:
        lines.append(
            f"regions: {one.mismatched:,} ends were not of the thread's innermost region: end "
            "regions in the order in which they lie in each other"
        )
    if one.held_twice:
        more = f" and {len(one.held_twice) - 1:,} more files" if len(one.held_twice) > 1 else ""
        lines.append(
            f"DATA AT RISK: {shown(one.held_twice[0])}{more}: written through buffers by processes "
            "of several nodes, which do not see each other: name in HEADRACE_IOBUF only files of "
            "one process"
        )
    failed = [f"{shown(p.name)} {p.sums.failed:,}" for p in found.procedures if p.sums.failed]
    if failed:
        lines.append(f"calls that returned an error: {', '.join(failed)}")
    if one.folded:
        lines.append(f"folded: {one.folded:,} calls are counted under a shorter call path")
    if one.checks:
        lines.append(
            f"checked: {one.checks:,} call paths by a full unwind, {one.wrong:,} were wrong"
        )
    if one.missing:
        lines.append(f"not measured: {', '.join(one.missing)} (another version made the record)")
    lines += [shown(one, LONGEST_NOTE) for one in found.source.notes]
    if found.in_mpi is not None and found.timeline is None:
        lines.append("not kept: calls one by one (HEADRACE_TIMELINE=1 switches that on)")
    if found.waits.procedures:
        lines.append(_waits(found.waits))
    if one.recorder:
        lines.append(
            f"estimated: the recorder itself took {short_time(one.recorder)} or more of a rank"
        )
    lines += [f"no names of {shown(name)}: {why}" for name, why in sorted(symbols.problems.items())]
    if {GONE, REBUILT} & set(symbols.problems.values()):
        lines.append(
            "names: if you have the files that ran, or their debugging information, give 'headrace "
            "report' their folder by --symbols DIR"
        )
    return lines


def _waits(waits: Waits) -> str:
    if waits.known == 1:
        return "measured: wait for others in collective calls, since the ranks lie on one node"
    if waits.known == 0:
        return "estimated: wait for others lies between the two numbers, but where is unknown"
    return (
        f"measured: wait for others in {waits.known:.1%} of the time in collective calls; of the "
        "rest it is estimated, so it lies between the two numbers"
    )
