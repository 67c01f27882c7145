"""What a report says of the timeline: that there is one, and how to see it."""

import re

from headrace.analysis.timeline import Timeline

VIEWER = "https://ui.perfetto.dev"
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*\.hrc")  # a name that no shell reads otherwise


def export_command(one: Timeline) -> str | None:
    """None if there is no file of it: what a job keeps was read."""
    if not one.record:
        return None
    record = one.record if PLAIN.fullmatch(one.record) else "FILE"
    return f"headrace record export {record} --timeline run.json.gz"


def timeline_lines(one: Timeline | None) -> list[str]:
    """None if there is no timeline."""
    if one is None:
        return []
    what = f"{one.events:,} calls and regions of {one.ranks:,} ranks one by one"
    if one.files:
        what += f", {one.files:,} of these calls on files without MPI"
    if one.lost:
        what += f"; {one.lost:,} earlier ones found no room: raise HEADRACE_TIMELINE_MEMORY"
    command = export_command(one) or "make its record first, once the job has ended"
    return [f"The record has {what}.", f"To see it in {VIEWER}: {command}"]
