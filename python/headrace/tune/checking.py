"""Whether a profile still fits what is measured now: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace.tune.figures import Measured
from headrace.tune.fit import Row
from headrace.tune.patterns import Pattern, gain_of, is_gain
from headrace.tune.profile import Profile, misfits

# A cost may be so many times another one before it counts as changed, and then only if what it adds
# up to is more than so many nanoseconds: of a call, or of the bytes of a large one.
TIMES = 1.6
LEAST_NANOSECONDS = 300.0
LARGE_CALL = 65_536


@dataclass(frozen=True)
class Verdict:
    """misfits: what the profile is not of. changed: costs. chosen: choices that would be other ones
    with what was measured now, and surely faster, but those that jobs had denied."""

    misfits: list[str]
    changed: list[str]
    chosen: list[str]

    @property
    def fits(self) -> bool:
        """Costs that changed without changing a choice do no harm."""
        return not self.misfits and not self.chosen


def check(
    profile: Profile,
    measured: Measured,
    now: Sequence[Row],
    chosen_then: Mapping[Pattern, str],
    chosen_now: Mapping[Pattern, str],
) -> Verdict:
    changed = []
    for row in now:
        then = profile.costs.get(row.cost.key)
        if row.fitted is None or then is None or not _differs(row.cost.name, then, row.value):
            continue
        changed.append(f"{row.cost.key} was {then:.4g}, now {row.value:.4g} ({row.cost.doc})")
    chosen = [
        f"{pattern.title}: {chosen_then[pattern]} with the profile, {path} as measured now"
        for pattern, path in chosen_now.items()
        if chosen_then[pattern] != path
        and (pattern.direction, pattern.bytes) not in profile.denied
        and is_gain(gain_of(measured, pattern, chosen_then[pattern], path))
    ]
    return Verdict(misfits(profile, measured), changed, chosen)


def _differs(name: str, then: float, now: float) -> bool:
    least = LEAST_NANOSECONDS / LARGE_CALL if name.endswith("_byte") else LEAST_NANOSECONDS
    if name in ("concurrency", "joined_piece"):
        least = 0.5
    greater, smaller = max(then, now), min(then, now)
    return greater > TIMES * smaller and greater - smaller > least
