"""Advice as lines of text."""

from headrace.advice.judging import Advice, Judgement, Unjudged
from headrace.analysis.analyse import Findings, Site
from headrace.report.units import place
from headrace.symbols.resolver import Symbols
from headrace.texts import shown

MOST_FIRST = 3
MANY = 4  # rules that have one reason
BAR = 50  # characters
UNKNOWN = "not measured"
WAITING = "certainly waiting"
_PARTS = (
    *(("#", "computing"), ("-", WAITING), ("=", "messages"), ("~", "collective calls")),
    *(("o", "I/O"), (".", UNKNOWN)),
)
_CLASS = {"point-to-point": "messages", "collective": "collective calls", "I/O": "I/O"}


def parts(found: Findings) -> list[tuple[str, float]]:
    """Where the ranks' time went, as shares of one. Of collective calls, what is surely waiting for
    other ranks is apart; how much of messages and files is waiting is not measured."""
    shares = {} if found.outside is None else {"computing": found.share(found.outside.total)}
    for one in found.classes:
        name = _CLASS.get(one.name, "other MPI")
        share = found.share(one.balance.total)
        if one.name == "collective" and found.waits.procedures:
            waiting = min(share, found.share(found.waits.total.least))
            if waiting > 0:
                shares[WAITING] = waiting
            share -= waiting
        shares[name] = shares.get(name, 0.0) + share
    if found.outside is None and found.run.rank_time:
        shares[UNKNOWN] = max(0.0, 1 - sum(shares.values()))
    return list(shares.items())


def bar(found: Findings) -> str:
    """One line: each character stands for 2 % of the ranks' time. What has none there has none in
    the legend, unless it is 0.5 % or more."""
    marks = {name: mark for mark, name in _PARTS}
    shares = parts(found)
    drawn = characters([share for _, share in shares])
    filled = "".join(
        marks.get(name, "+") * count for (name, _), count in zip(shares, drawn, strict=True)
    )
    legend = ", ".join(
        f"{marks.get(name, '+')} {name} {share:.0%}" for name, share in shares if share >= 0.005
    )
    return f"[{filled:<{BAR}}] {legend}"


def characters(shares: list[float]) -> list[int]:
    """How many of BAR each share gets: rounded down, then one more for the greatest remainders, so
    that shares of a whole fill the bar."""
    counts = [int(share * BAR) for share in shares]
    left = min(BAR, round(sum(shares) * BAR)) - sum(counts)
    remainders = sorted(range(len(shares)), key=lambda at: counts[at] - shares[at] * BAR)
    for at in remainders[: max(0, left)]:
        counts[at] += 1
    return counts


def gain(one: Advice) -> str:
    """What it would gain, in words."""
    if one.upper is None:
        return "no gain of its own"
    lowest = one.lower if one.lower is not None else one.upper
    interval = one.upper - lowest > 0.1 * one.upper
    most = f"gains at most {gained_seconds(one.upper)}"
    if interval:
        most += f" (or {gained_seconds(lowest)}: waiting is not known exactly)"
    return most + (f"; own time {gained_seconds(one.own)}" if one.own is not None else "")


def gained_seconds(value: float) -> str:
    return f"{value:,.2f} s" if value >= 0.1 else f"{value * 1e3:.3g} ms"


def first(judgement: Judgement) -> list[Advice]:
    """Those of the first screen."""
    return [one for one in judgement.advice if one.upper is not None][:MOST_FIRST]


def nothing(found: Findings) -> str:
    if not found.run.rank_time:
        return f"The {found.source.name} has no times of ranks, so nothing could be judged."
    return "No rule found anything that would gain 1 % of the run or more."


def actions(judgement: Judgement, found: Findings) -> list[str]:
    """The top three with seconds."""
    lines = [
        f"{place}. {'Hint: ' if one.is_hint else ''}{shown(one.rule.title)}: {gain(one)}"
        for place, one in enumerate(first(judgement), start=1)
    ]
    return lines or [nothing(found)]


def all_advice(judgement: Judgement, found: Findings, symbols: Symbols) -> list[str]:
    lines = []
    for one in judgement.advice:
        lines.append(f"{'hint' if one.is_hint else 'action'} {one.rule.id}: {gain(one)}")
        lines += [f"  {shown(text)}" for text in one.evidence]
        lines += [f"  at {text}" for text in places(one, found, symbols)]
        lines.append(f"  -> {shown(one.rule.action)}")
    lines += [
        f"not said: {shown(rule.title)}, since {shown(cause)} explains it"
        for rule, cause in judgement.suppressed
    ]
    lines += _unjudged(judgement)
    if len(judgement.advice) > 1:
        lines.append("gains must not be added: they count the same waiting")
    return lines or [nothing(found)]


def _unjudged(judgement: Judgement) -> list[str]:
    """Those of one reason together, if they are many."""
    titles: dict[str, list[str]] = {}
    for one in judgement.unjudged:
        titles.setdefault(reasons(one), []).append(shown(one.rule.title))
    if len(titles) == 1 and not (judgement.advice or judgement.suppressed):
        return [f"nothing could be judged, because {why}" for why in titles]
    return [
        line
        for why, each in titles.items()
        for line in (
            [f"could not be judged, because {why}: {'; '.join(each)}"]
            if len(each) >= MANY
            else [f"could not be judged: {title}, because {why}" for title in each]
        )
    ]


def reasons(one: Unjudged) -> str:
    return "; ".join(map(shown, one.reasons))


def places(one: Advice, found: Findings, symbols: Symbols) -> list[str]:
    """The hottest call sites of which it speaks: procedure and innermost function, whoever called
    that. Of what samples show the functions."""
    if one.rule.cost in found.spots:
        return list(map(shown, found.spots[one.rule.cost]))
    procedures = found.costs.get(one.rule.cost, frozenset())
    shares: dict[str, float] = {}
    for site in found.sites:
        if site.procedure in procedures:
            text = shown(site.procedure) + _innermost(site, symbols)
            shares[text] = shares.get(text, 0.0) + found.share(site.balance.total)
    hottest = sorted(shares.items(), key=lambda item: -item[1])[:MOST_FIRST]
    return [f"{text}, {share:.1%}" for text, share in hottest]


def _innermost(site: Site, symbols: Symbols) -> str:
    lines = symbols.of_program(site.frames)
    if not lines:
        return ""
    where = f" ({place(lines[0].file)}:{lines[0].line})" if lines[0].file else ""
    return f" in {shown(lines[0].function)}{where}"
