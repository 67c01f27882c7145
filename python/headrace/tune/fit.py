"""Figures -> the costs of the model: pure. src/policy/path.cc says how the model uses them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from headrace.tune import least_squares
from headrace.tune.cost import Cost
from headrace.tune.figures import Figure, Measured
from headrace.tune.generated.costs import COSTS

# Of reads; they stay as built in if what was read did not come from the file system.
OF_READS = {cost.key for cost in COSTS if cost.table == "read"} | {
    "common.joined_piece",
    "common.joined_byte",
    "common.large_piece_to_read",
}
# For so many bytes of a call a growing file costs more.
FIRST_BYTES = next(cost.value for cost in COSTS if cost.name == "first_bytes")
# What several ranks reach together, as a share of that many times one rank, to count as unhindered.
UNHINDERED = 0.8
# Costs count if they tell each time that they were fitted to within this factor.
MOST_OFF = 1.6
# Direct calls count as fast as staged ones up to so much more time: nobody waits for anybody.
AS_FAST = 1.05


@dataclass(frozen=True)
class Fitted:
    """A cost that was measured, and by what."""

    value: float
    source: str


@dataclass(frozen=True)
class Unfit:
    """Why a cost stays as it is built in, though something was measured."""

    why: str


@dataclass(frozen=True)
class Row:
    """A cost of the model as a profile has it; fitted is None for one that stays as built in, and
    why may say the reason."""

    cost: Cost
    fitted: Fitted | None
    why: str = ""

    @property
    def value(self) -> float:
        return self.cost.value if self.fitted is None else self.fitted.value


def rows(measured: Measured) -> list[Row]:
    """All costs, in the order of spec/costs.toml."""
    found = dict(_all(measured))
    return [_row(cost, found.get(cost.key), measured.reads_memory) for cost in COSTS]


def _row(cost: Cost, found: Fitted | Unfit | None, reads_memory: bool) -> Row:
    if reads_memory and found is not None and cost.key in OF_READS:
        found = Unfit("reads came from this node's memory, not from the file system")
    if isinstance(found, Unfit):
        return Row(cost, None, found.why)
    return Row(cost, found)


def _all(measured: Measured) -> Iterator[tuple[str, Fitted | Unfit]]:
    yield from _requests(measured)
    yield from _windows(measured)
    yield from _copies(measured)
    yield from _joined(measured)
    for direction in ("write", "read"):
        found = _concurrency(measured, direction)
        if found is not None:
            yield f"{direction}.concurrency", found
        large = _large_piece(measured, direction)
        if large is not None:
            yield f"common.large_piece_to_{direction}", large


def _requests(measured: Measured) -> Iterator[tuple[str, Fitted | Unfit]]:
    """time = call + bytes * call_byte, and of a growing file + its first bytes * growth_byte."""
    appends = measured.all_of("append")
    if len(appends) >= 3:
        source = f"requests of one rank, {_sizes(appends)}, to a growing file"
        terms = [[1.0, one.bytes, min(one.bytes, FIRST_BYTES)] for one in appends]
        names = ("write.call", "write.call_byte", "write.growth_byte")
        yield from _fitted(names, terms, appends, source)
    reads = measured.all_of("read")
    if len(reads) >= 2:
        source = f"requests of one rank, {_sizes(reads)}"
        yield from _fitted(("read.call", "read.call_byte"), _line(reads), reads, source)


def _windows(measured: Measured) -> Iterator[tuple[str, Fitted | Unfit]]:
    for direction, what in (("write", "append_cached"), ("read", "read_cached")):
        figures = measured.all_of(what)
        if len(figures) < 2:
            continue
        source = f"requests of one rank, {_sizes(figures)}, with memory in the CPU's caches"
        names = (f"{direction}.window_call", f"{direction}.window_byte")
        yield from _fitted(names, _line(figures), figures, source)


def _copies(measured: Measured) -> Iterator[tuple[str, Fitted]]:
    for direction, what in (("write", "copy_to_slot"), ("read", "copy_from_slot")):
        for figure in measured.all_of(what):
            source = f"copies of {figure.bytes} B in memory"
            yield f"{direction}.copy_byte", Fitted(figure.undisturbed / figure.bytes, source)


def _joined(measured: Measured) -> Iterator[tuple[str, Fitted | Unfit]]:
    """A piece with its gap: joined_piece + (piece + gap) * joined_byte."""
    figures = measured.all_of("read_joined")
    if len(figures) < 2:
        return
    source = f"pieces of {_sizes(figures)} that are read together"
    terms = [[1.0, one.bytes + one.gap] for one in figures]
    times = [one.undisturbed / one.count for one in figures]
    piece, byte = least_squares.fit(terms, times)
    unfit = _judge(terms, times, (piece, byte))
    yield "common.joined_piece", unfit or Fitted(piece, source)
    yield "common.joined_byte", unfit or Fitted(byte, source)


def _concurrency(measured: Measured, direction: str) -> Fitted | None:
    """How many times the rate of one rank all ranks of a node reach together, the median of the
    sizes; no more than the ranks that were measured."""
    figures = measured.all_of("append_together" if direction == "write" else "read_together")
    most = max((one.ranks for one in figures), default=1)
    if most == 1:
        return None
    ratios = []
    for size in sorted({one.bytes for one in figures}):
        of_size = {one.ranks: one.undisturbed for one in figures if one.bytes == size}
        if 1 in of_size and most in of_size:
            ratios.append(most * of_size[1] / of_size[most])
    if not ratios:
        return None
    ratio = median(ratios)
    source = f"{most} ranks together reach {ratio:.2f} times the rate of one"
    return Fitted(most if ratio >= UNHINDERED * most else max(1.0, ratio), source)


def _large_piece(measured: Measured, direction: str) -> Fitted | None:
    """The size of pieces from which direct calls are as fast as staged ones: between the largest
    size of which they are not and the next; beyond the largest where they never are."""
    ratios = path_ratios(measured, direction)
    if not ratios:
        return None
    ranks = measured.node_ranks
    source = f"collective calls of {ranks} ranks by both paths, pieces of {_few(list(ratios))}"
    sizes = sorted(ratios)
    slow = [size for size in sizes if ratios[size] > AS_FAST]
    if not slow:
        return Fitted(float(sizes[0]), source)
    later = [size for size in sizes if size > slow[-1]]
    return Fitted(round(sqrt(slow[-1] * (later[0] if later else 4 * slow[-1]))), source)


def path_ratios(measured: Measured, direction: str) -> dict[int, float]:
    """By size of pieces: the time of direct collective calls to that of staged ones."""
    found = {}
    for figure in measured.all_of(f"collective_{direction}"):
        if figure.path != "direct":
            continue
        staged = measured.of_path(figure.what, figure.bytes, "staged")
        if staged is not None:
            pairs = zip(figure.seconds, staged.seconds, strict=False)
            found[figure.bytes] = median(a / b for a, b in pairs)
    return found


def _fitted(
    names: Sequence[str], terms: list[list[float]], figures: list[Figure], source: str
) -> Iterator[tuple[str, Fitted | Unfit]]:
    """Costs by what each is multiplied with in a figure's time; the first is that of a call."""
    times = [one.undisturbed for one in figures]
    costs = least_squares.fit(terms, times)
    costs[0] = _at_least(costs[0], figures)
    unfit = _judge(terms, times, costs)
    for name, cost in zip(names, costs, strict=True):
        yield name, unfit or Fitted(cost, source)


def _judge(
    terms: list[list[float]], times: Sequence[float], costs: Sequence[float]
) -> Unfit | None:
    """Why costs do not tell the times that they were fitted to; None if they do. The second cost is
    that of a byte."""
    told = [sum(a * b for a, b in zip(row, costs, strict=True)) for row in terms]
    if costs[1] == 0:
        return Unfit("what was measured does not grow with the size")
    off = max(max(one / time, time / one) for one, time in zip(told, times, strict=True))
    if off <= MOST_OFF:
        return None
    return Unfit(f"what was measured is no such sum: it would be {off:.1f} times off")


def _at_least(call: float, figures: list[Figure]) -> float:
    """A fitted cost of a call, but no less than half of the smallest request, which is nearly all
    call: on a busy machine large requests may take so long that nothing is left for the call."""
    smallest = min(figures, key=lambda one: one.bytes)
    return max(call, smallest.undisturbed / 2)


def _line(figures: list[Figure]) -> list[list[float]]:
    """time = first + bytes * second."""
    return [[1.0, one.bytes] for one in figures]


def _sizes(figures: list[Figure]) -> str:
    return _few([one.bytes for one in figures])


def _few(sizes: list[int]) -> str:
    return f"{min(sizes)} to {max(sizes)} B"
