"""All that a report shows of counts: each event and what is worked out, spread over ranks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headrace.counters.counts import Count, counts_of
from headrace.counters.metrics import PEAK, WALL, Metric, metrics_for, peak_of, worked_out
from headrace.record.tables import Record

NS = 1e9


@dataclass(frozen=True)
class Spread:
    """values: by rank, of all of them; None: not known. The others are of those that are known."""

    values: Mapping[int, float | None]

    @property
    def known(self) -> list[float]:
        return [value for value in self.values.values() if value is not None]

    @property
    def least(self) -> float | None:
        return min(self.known, default=None)

    @property
    def greatest(self) -> float | None:
        return max(self.known, default=None)

    @property
    def greatest_rank(self) -> int | None:
        greatest = self.greatest
        return next(
            (rank for rank, own in self.values.items() if own is not None and own == greatest), None
        )

    @property
    def mean(self) -> float | None:
        known = self.known
        return sum(known) / len(known) if known else None

    @property
    def imbalance_percent(self) -> float | None:
        """As of times: 0 if all ranks are alike, 100 if one has it all."""
        known = self.known
        if len(known) < 2 or max(known) <= 0:
            return None
        greatest, mean = max(known), sum(known) / len(known)
        return 100 * (greatest - mean) / greatest * len(known) / (len(known) - 1)


@dataclass(frozen=True)
class EventRow:
    """why_not: "" where it was counted. is_scaled: events took turns, so it is an estimate."""

    name: str
    spread: Spread
    is_scaled: bool
    why_not: str


@dataclass(frozen=True)
class MetricRow:
    """why_not: "" where it is known."""

    metric: Metric
    spread: Spread
    why_not: str


@dataclass(frozen=True)
class Counters:
    """group: as it was asked for. processor: "VENDOR FAMILY MODEL", "" if unknown."""

    group: str
    processor: str
    events: tuple[EventRow, ...]
    metrics: tuple[MetricRow, ...]


def counters(record: Record) -> Counters | None:
    """None where nothing was to be counted."""
    by_rank = counts_of(record)
    if not by_rank:
        return None
    processor = record.facts.get("processor", "")
    names = list(dict.fromkeys(own.event for counts in by_rank.values() for own in counts))
    events = tuple(_event(name, by_rank) for name in names)
    return Counters(_group(record), processor, events, _metrics(by_rank, names, processor))


def _group(record: Record) -> str:
    for node in record.nodes:
        names, values = node.texts_of("settings", "name"), node.texts_of("settings", "value")
        for name, value in zip(names, values, strict=True):
            if name == "HEADRACE_COUNTERS":
                return value
    return ""


def _event(name: str, by_rank: Mapping[int, tuple[Count, ...]]) -> EventRow:
    own = {
        rank: count for rank, counts in by_rank.items() for count in counts if count.event == name
    }
    spread = Spread({rank: own[rank].value if rank in own else None for rank in by_rank})
    reasons = [count.why_not for count in own.values() if count.why_not]
    is_scaled = any(count.is_scaled for count in own.values())
    return EventRow(name, spread, is_scaled, "" if spread.known else reasons[0])


def _metrics(
    by_rank: Mapping[int, tuple[Count, ...]], names: Iterable[str], processor: str
) -> tuple[MetricRow, ...]:
    known = {own.event for counts in by_rank.values() for own in counts if own.value is not None}
    chosen = metrics_for(names, known)
    values = {rank: _known(counts, processor) for rank, counts in by_rank.items()}
    found = {rank: worked_out(chosen, own) for rank, own in values.items()}
    rows = []
    for metric in chosen:
        spread = Spread({rank: found[rank][metric.name] for rank in by_rank})
        rank = next(iter(by_rank))
        why_not = "" if spread.known else _why_not(metric, {**values[rank], **found[rank]})
        rows.append(MetricRow(metric, spread, why_not))
    return tuple(rows)


def _known(counts: Iterable[Count], processor: str) -> dict[str, float | None]:
    values: dict[str, float | None] = {own.event: own.value for own in counts}
    wall = max((own.wall for own in counts), default=0)
    return {**values, WALL: wall / NS if wall else None, PEAK: peak_of(processor)}


def _why_not(metric: Metric, values: Mapping[str, float | None]) -> str:
    missing = metric.formula.unknown(values)
    if PEAK in missing:
        return "the peak of this processor is not known"
    if missing:
        return f"needs {', '.join(missing)}"
    return "it would divide by 0"
