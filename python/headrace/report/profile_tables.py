"""The profile as tables of texts."""

from collections import Counter
from collections.abc import Iterator

from headrace.profile.loopmark import Listing
from headrace.profile.profile import HotLine, Profile, TreeNode
from headrace.profile.samples import SOURCES
from headrace.report.feedback_tables import feedback_tables
from headrace.report.tables import MOST_ROWS, Table, balance_cells, more
from headrace.report.units import place, seconds
from headrace.texts import shown

LEAST_SHARE = 0.01  # of what trees and lines show, as CrayPat's
MOST_BRANCHES = 40
LONGEST_NAME = 80


def profile_tables(found: Profile | None, listing: Listing | None = None) -> list[Table]:
    """Those that have rows; that of compilers' remarks whenever they were asked for."""
    if found is None:
        return []
    made = [_functions(found), _tree(found), _lines(found)]
    rest = [_regions(found), _threads(found)]
    return [
        *(table for table in made if table.rows),
        *feedback_tables(found, listing),
        *(table for table in rest if table.rows),
    ]


def name_text(text: str) -> str:
    return shown(text, LONGEST_NAME)


def _functions(found: Profile) -> Table:
    own = [one for one in found.functions if one.samples]
    rows = [
        (
            name_text(one.name),
            f"{found.share(one.time):.1%}",
            f"{one.samples:,}",
            seconds(one.time),
            *balance_cells(one.balance),
            f"{found.share(one.with_callees):.1%}",
            shown(one.module),
        )
        for one in own[:MOST_ROWS]
    ]
    headers = ("function ", "share", "samples", "time", "average", "greatest", "imbalance")
    headers += ("imbalance %", "with callees", "file ")
    note = (
        "CPU time, by samples; share: of all samples of all ranks; average and greatest: of a rank"
    )
    if any(one.module.startswith("libheadrace") for one in own[:MOST_ROWS]):
        note += (
            "; libheadrace.so: Headrace itself, which records calls of MPI and does some of them"
        )
    return Table("Profile by function", headers, rows, note + more(len(own)))


def _branches(found: Profile, node: TreeNode, depth: int) -> Iterator[tuple[str, ...]]:
    for one in _shown(found, node):
        chain = [one]
        # A function that calls itself, and nothing else that is shown, is one row.
        while [inner.name for inner in _shown(found, chain[-1])] == [one.name]:
            chain += _shown(found, chain[-1])
        own = sum(inner.own for inner in chain)
        deep = f" ({len(chain):,} deep)" if len(chain) > 1 else ""
        name = f"{'  ' * depth}{name_text(one.name)}{deep}"
        yield (name, f"{found.share(one.time):.1%}", f"{found.share(own):.1%}" if own else "")
        yield from _branches(found, chain[-1], depth + 1)


def _shown(found: Profile, node: TreeNode) -> list[TreeNode]:
    """What it calls that has enough time to be shown, the costliest first."""
    return [one for one in node.costliest() if found.share(one.time) >= LEAST_SHARE]


def _tree(found: Profile) -> Table:
    rows = list(_branches(found, found.tree, 0))
    note = "share: with what it calls; own: without; branches of less than 1 % are left out"
    if len(rows) > MOST_BRANCHES:
        note += f"; {len(rows) - MOST_BRANCHES} more are in --json"
    headers = ("called from the outside in ", "share", "own")
    return Table("Profile by caller", headers, rows[:MOST_BRANCHES], note)


def line_place(one: HotLine) -> str:
    where = one.place
    return f"{place(where.file)}:{where.line}" if where.file else ""


def _lines(found: Profile) -> Table:
    hot = [one for one in found.lines if one.place.file and found.share(one.time) >= LEAST_SHARE]
    rows = [
        (
            line_place(one),
            f"{found.share(one.time):.1%}",
            f"{one.samples:,}",
            seconds(one.time),
            name_text(one.place.function),
            name_text(one.place.inlined),
        )
        for one in hot[:MOST_ROWS]
    ]
    headers = ("line ", "share", "samples", "time", "function ", "inlined ")
    return Table("Hot lines", headers, rows, "lines of 1 % and more" + more(len(hot)))


def _regions(found: Profile) -> Table:
    if list(found.regions) == [""]:
        return Table("Profile by region", (), [])
    rows = [
        (shown(label) or "(none)", f"{found.share(time):.1%}", seconds(time))
        for label, time in list(found.regions.items())[:MOST_ROWS]
    ]
    headers = ("region ", "share", "time")
    note = "by the innermost region of the thread" + more(len(found.regions))
    return Table("Profile by region", headers, rows, note)


def _threads(found: Profile) -> Table:
    rows = [
        (
            f"{one.rank}.{one.number}",
            shown(one.name),
            f"{one.samples:,}",
            seconds(one.time),
            seconds(one.cpu),
            SOURCES[min(one.source, len(SOURCES) - 1)],
        )
        for one in sorted(found.threads, key=lambda own: (-own.cpu, own.rank, own.number))
        if one.samples or one.cpu
    ]
    headers = ("rank.thread ", "name ", "samples", "sampled", "worked", "source ")
    note = "worked: by the thread's own clock; sampled: for which samples count"
    return Table("Threads sampled", headers, rows[:MOST_ROWS], note + more(len(rows)))


def _sources(found: Profile) -> str:
    counts = Counter(SOURCES[min(one.source, len(SOURCES) - 1)] for one in found.threads)
    if len(counts) == 1:
        return next(iter(counts))
    return " and ".join(f"{name} ({count:,})" for name, count in counts.most_common())


def sampling_line(found: Profile) -> str:
    """How the samples were taken, and how far they can be trusted."""
    first = found.threads[0]
    cpu = found.cpu
    words = [f"{found.samples:,} samples of {len(found.threads):,} threads"]
    words.append(f"by {_sources(found)}")
    if first.period and cpu:
        asked = 1e9 / first.period
        words.append(f"{asked:.0f} a second asked, {found.samples / (cpu / 1e9):.1f} obtained")
        words.append(f"they stand for {found.time / cpu:.1%} of these threads' CPU time")
    lost = sum(one.lost for one in found.threads)
    cut = sum(one.cut for one in found.threads)
    if lost:
        words.append(f"{lost:,} lost")
    if cut:
        words.append(f"of {cut:,} the outer part of the call path is missing")
    return f"sampled: {', '.join(words)}"
