"""How far the numbers can be trusted: what was not measured, folded, estimated, or is missing."""

from headrace.analysis.analyse import Findings
from headrace.report.units import short_time, shown
from headrace.symbols.resolver import Symbols


def quality(found: Findings, symbols: Symbols) -> list[str]:
    one = found.quality
    lines = [f"INCOMPLETE: {shown(why)}" for why in found.run.lacks]
    if len(found.run.ranks) < found.run.count:
        lines.append(
            "ranks are missing: if they ran on other nodes, type 'headrace record gather' on each "
            "of these, and give 'headrace report' all records"
        )
    if one.lost_calls:
        lines.append(
            f"not counted: {one.lost_calls:,} calls or more, for which there was no room: raise "
            "HEADRACE_RECORD_MEMORY"
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
    lines.append(
        "not measured: I/O that is not MPI's; waiting in point-to-point calls, in nonblocking "
        "collective ones and in those of files"
    )
    if found.waits.procedures:
        lines.append(
            "estimated: wait for others lies between the two numbers, but where is unknown"
        )
    if one.recorder:
        lines.append(
            f"estimated: the recorder itself took {short_time(one.recorder)} a rank at most"
        )
    lines += [f"no names of {shown(name)}: {why}" for name, why in sorted(symbols.problems.items())]
    return lines
