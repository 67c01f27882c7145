"""The search for the best setting: few rounds of many, in which those far behind drop out."""

from collections.abc import Callable
from statistics import median

from headrace.bench.grid.settings import acting, is_opt_in
from headrace.bench.jobs import HEADRACE
from headrace.bench.peers.results import Attempt

ROUNDS = 3
# After so many rounds a setting must be within this factor of the best to stay.
SLACK = {1: 1.5, 2: 1.2}


def standing(search: Attempt) -> list[str]:
    """The settings that are in the race, without the default."""
    out = {HEADRACE, *search.failed, *search.dropped}
    return [key for key in search.labels if key not in out]


def _accesses(search: Attempt) -> list[str]:
    """Every access that any round holds."""
    rounds = [one.rates.values() for one in search.rounds]
    return list(dict.fromkeys(access for rates in rounds for one in rates for access in one))


def _class(search: Attempt, opt_in: bool) -> list[str]:
    return [key for key in standing(search) if is_opt_in(search.labels[key]) == opt_in]


def _rate(search: Attempt, access: str) -> Callable[[str], float]:
    return lambda key: median(search.rates(key, access))


def too_slow(search: Attempt) -> dict[str, str]:
    """Why settings drop out after the last round, by key: in no access are they near the best of
    their class. The default is measured in each round whatever it reaches."""
    slack = SLACK.get(len(search.rounds))
    if slack is None:
        return {}
    found = {}
    for opt_in in (False, True):
        near: set[str] = set()
        for access in _accesses(search):
            rate, keys = _rate(search, access), _acting(search, access, opt_in)
            best = max(map(rate, keys), default=0.0)
            near |= {key for key in keys if rate(key) * slack >= best}
        why = f"more than {slack} times slower than the best after {len(search.rounds)} rounds"
        found |= {key: why for key in _class(search, opt_in) if key not in near}
    return found


def winners(search: Attempt) -> dict[tuple[str, bool], str]:
    """By access, and by whether it must be asked for, the setting with the highest median, of those
    that act there. Where nothing is in the race there is none."""
    return {
        (access, opt_in): max(keys, key=_rate(search, access))
        for access in _accesses(search)
        for opt_in in (False, True)
        if (keys := _acting(search, access, opt_in))
    }


def _acting(search: Attempt, access: str, opt_in: bool) -> list[str]:
    return [key for key in _class(search, opt_in) if acting(search.labels[key], access)]
