"""Findings as text."""

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from headrace.advice.judging import Judgement
from headrace.analysis.analyse import Findings
from headrace.analysis.generated.verdict_texts import TEXTS
from headrace.analysis.verdict import efficiency_line, verdict
from headrace.counters.summary import Counters
from headrace.profile.loopmark import Listing
from headrace.profile.profile import Profile
from headrace.profile.traced import Traced
from headrace.report.actions import actions, all_advice, bar
from headrace.report.counter_tables import counter_tables
from headrace.report.heat_picture import heat_table
from headrace.report.last_calls import last_calls_table
from headrace.report.profile_tables import profile_tables, sampling_line
from headrace.report.quality import quality
from headrace.report.since import Since
from headrace.report.tables import Table, tables, wait
from headrace.report.timeline_text import timeline_lines
from headrace.report.traced_tables import traced_tables
from headrace.report.units import LONGEST_VERDICT, library, seconds
from headrace.symbols.resolver import Symbols
from headrace.texts import shown

WIDTH = 160  # where standard output is no terminal


def console() -> Console:
    made = Console()
    return made if made.is_terminal else Console(width=WIDTH)


def console_of_errors() -> Console:
    made = Console(stderr=True)
    return made if made.is_terminal else Console(stderr=True, width=WIDTH)


def show(
    out: Console,
    found: Findings,
    symbols: Symbols,
    judgement: Judgement,
    profile: Profile | None = None,
    listing: Listing | None = None,
    counted: Counters | None = None,
    traced: Traced | None = None,
    since: Since | None = None,
) -> None:
    for line in first_lines(found, judgement):
        put_line(out, line)
    if found.last_calls:
        put_table(out, last_calls_table(found, symbols))
    out.print()
    put_title(out, "Advice")
    for line in all_advice(judgement, found, symbols):
        put_line(out, line)
    if since is not None:
        out.print()
        put_title(out, "Changes since a baseline")
        for line in since.lines:
            put_line(out, line)
        for table in since.tables:
            put_table(out, table)
    sampled = profile_tables(profile, listing)
    other = (*counter_tables(counted), *traced_tables(traced))
    for table in (*sampled, *other, *tables(found, symbols)):
        put_table(out, table)
    if (heat := heat_table(found)).rows:
        put_table(out, heat)
    if told := timeline_lines(found.timeline):
        out.print()
        put_title(out, "Timeline")
        for line in told:
            put_line(out, line)
    out.print()
    put_title(out, "Data quality")
    if profile is not None:
        put_line(out, sampling_line(profile))
    for line in quality(found, symbols):
        put_line(out, line)


def show_profile(
    out: Console,
    found: Findings,
    judgement: Judgement,
    profile: Profile,
    listing: Listing | None = None,
    counted: Counters | None = None,
    traced: Traced | None = None,
) -> None:
    """The profile alone, with what to change first."""
    for line in (*actions(judgement, found), sampling_line(profile)):
        put_line(out, line)
    for table in profile_tables(profile, listing):
        put_table(out, table)
    show_counters(out, counted, traced)


def show_counters(out: Console, counted: Counters | None, traced: Traced | None = None) -> None:
    """And traced functions: what is there without samples, too."""
    for table in (*counter_tables(counted), *traced_tables(traced)):
        put_table(out, table)


def first_lines(found: Findings, judgement: Judgement) -> list[str]:
    """They must suffice: what ran, how well, where the time went, and what to change first."""
    if not found.run.is_end_known:
        return head(found)
    return [*head(found), bar(found), *actions(judgement, found)]


def head(found: Findings) -> list[str]:
    run = found.run
    nodes = "" if run.nodes is None else f" on {counted(run.nodes, 'node')}"
    words = [f"{counted(run.count, 'rank')}{nodes}", seconds(run.elapsed)]
    words += filter(None, [shown(found.source.made_by), library(run.mpi), shown(run.command)])
    lines = [", ".join(words)]
    if run.lacks:
        lacks = shown("; ".join(run.lacks))
        lines.append(TEXTS["incomplete"].format(source=found.source.name, lacks=lacks))
    lines.append(shown(verdict(found), LONGEST_VERDICT))
    lines += filter(None, [efficiency_line(found)])
    if found.waits.procedures:
        lines.append(f"waiting in collective calls, of all ranks: {wait(found.waits.total)}")
    if (messages := found.waits.messages) is not None:
        lines.append(
            f"waiting for messages, of all ranks: {wait(messages.total)}; of {messages.matched:,} "
            f"messages {messages.early:,} were sent before their receive was posted"
        )
    return lines


def put_title(out: Console, text: str) -> None:
    out.print(text, style="bold", highlight=False, markup=False)


def put_line(out: Console, text: str) -> None:
    """As it is, whatever is in it."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def put_table(out: Console, table: Table) -> None:
    out.print()
    put_title(out, table.title)
    made = RichTable(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for header in table.headers:
        words = header.endswith(" ")
        made.add_column(header.strip(), overflow="fold", justify="left" if words else "right")
    for row in table.rows:
        made.add_row(*map(Text, row))
    out.print(made, highlight=False)
    if table.note:
        put_line(out, table.note)


def counted(number: int, what: str) -> str:
    """As "1 node" or "4 nodes"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
