"""What was found, on the terminal."""

from collections.abc import Mapping, Sequence

from rich.console import Console

from headrace.bench.peers.output import show_line, show_table
from headrace.bench.peers.tables import Table, ratio_text
from headrace.statistics import Interval
from headrace.tune.figures import Measured
from headrace.tune.fit import Row
from headrace.tune.patterns import Choice, Pattern, is_gain

CHOICE_NOTE = (
    "us: medians of a call; gain: how many times as fast the new path is as the old one, calls in "
    "turns, [95 % interval of the median]. Where it does not lie above 1, the built-in costs stay."
)


def cost_table(rows: Sequence[Row]) -> Table:
    fitted = [row for row in rows if row.fitted is not None]
    kept = len(rows) - len(fitted)
    return Table(
        "Costs, in nanoseconds unless said otherwise",
        ("cost", "measured", "built in", "what it is"),
        [(row.cost.key, f"{row.value:.4g}", f"{row.cost.value:g}", row.cost.doc) for row in fitted],
        f"{kept} others stay as they are built in; the profile names them.",
    )


def choice_table(choices: Sequence[Choice], measured: Measured) -> Table:
    rows = [
        (
            one.pattern.title,
            one.before,
            one.after,
            *(_time_of(measured, one.pattern, path) for path in ("direct", "staged")),
            _gain_text(one),
        )
        for one in choices
    ]
    headers = ("collective call", "before", "by these costs", "direct us", "staged us", "gain")
    title = f"What {measured.node_ranks} ranks of a node would choose"
    return Table(title, headers, rows, CHOICE_NOTE)


def gain_text(gain: Interval) -> str:
    """With too few pairs the interval is none of 95 %."""
    few = "" if gain.is_confident else f" ({gain.count} pairs, too few for 95 %)"
    return ratio_text(gain) + few


def _gain_text(choice: Choice) -> str:
    if not choice.changes:
        return ""
    if choice.gain is None:
        return "not measured, not taken"
    return gain_text(choice.gain) + ("" if choice.is_proven else ", not taken")


def _time_of(measured: Measured, pattern: Pattern, path: str) -> str:
    figure = measured.of_path(f"collective_{pattern.direction}", pattern.bytes, path)
    return "" if figure is None else f"{figure.nanoseconds / 1000:,.0f}"


def raw_table(measured: Measured) -> Table:
    """Rates and times that people ask for."""
    rows = []
    for figure in measured.figures:
        if figure.what.startswith("collective"):
            continue
        time = figure.nanoseconds
        per_call = figure.count if figure.what == "read_joined" else 1
        # A message is one of its two ranks.
        senders = 1 if figure.what == "message" else figure.ranks
        moved = figure.bytes * senders * per_call
        rate = f"{moved / time * 1e9 / (1 << 20):,.0f}" if figure.bytes > 8 else ""
        rows.append(
            (
                figure.what.replace("_", " "),
                str(figure.ranks),
                f"{figure.bytes:,}" if figure.bytes else "",
                f"{time / 1000:,.1f}",
                rate,
            )
        )
    headers = ("what", "ranks", "bytes", "us", "MiB/s together")
    return Table("What was measured", headers, rows, between_nodes(measured))


def between_nodes(measured: Measured) -> str:
    distance = (
        f"A page takes {measured.core_distance:.0f} ns from core to core. "
        if measured.core_distance > 0
        else ""
    )
    if measured.reads_memory:
        distance += (
            "What was written stayed in this node's memory, so reads were of memory: the built-in "
            "costs of reads stay. "
        )
    if measured.nodes < 2:
        return distance + "Between nodes nothing was measured: the job had one node."
    seen = (
        f"Of {measured.coherence_tries} reads of what another node had just written, "
        f"{measured.coherence_stale} did not see it."
    )
    if measured.coherence_stale == measured.coherence_tries > 0:
        seen += " Do the nodes share this directory?"
    return distance + seen


def show_confirmed(console: Console, pattern: Pattern, gain: Interval, paths: str) -> None:
    taken = "" if is_gain(gain) else "; so the built-in costs stay for it"
    show_line(
        console,
        f"{pattern.title}, left to Headrace in jobs in turns ({paths}): "
        f"{gain_text(gain)} times as fast with the profile{taken}",
    )


def choice_notes(choices: Sequence[Choice], denied: Mapping[Pattern, Interval]) -> list[str]:
    """A line for the profile on each choice that measured costs would change."""
    notes = []
    for one in choices:
        if not one.changes:
            continue
        text = f"{one.pattern.title}: {one.after} instead of {one.before}"
        if one.gain is None:
            notes.append(f"{text} was not measured; the built-in costs stay")
            continue
        text += f", {gain_text(one.gain)} times as fast"
        if one.pattern in denied:
            jobs = gain_text(denied[one.pattern])
            notes.append(f"{text}, but in jobs {jobs} times; the built-in costs stay")
        else:
            notes.append(text + ("" if one.is_proven else "; the built-in costs stay"))
    return notes


def show(
    console: Console, measured: Measured, rows: Sequence[Row], choices: Sequence[Choice], raw: bool
) -> None:
    if raw:
        show_table(console, raw_table(measured))
    else:
        show_line(console, between_nodes(measured))
    show_table(console, cost_table(rows))
    show_table(console, choice_table(choices, measured))
