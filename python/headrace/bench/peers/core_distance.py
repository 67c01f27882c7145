"""How far the ranks' cores were apart in a round, and what Headrace reached near and far."""

import re
from collections import defaultdict
from statistics import median

from headrace.bench.comparison import Comparison
from headrace.bench.jobs import HEADRACE
from headrace.bench.peers.grid import BY_NAME
from headrace.bench.peers.judgement import measured_accesses
from headrace.bench.peers.results import Results
from headrace.bench.peers.tables import Table
from headrace.bench.peers.targets import DECISIVE_RANKS

# Cores are far apart where a page takes so many times what it takes at least on the machine.
FAR = 2

_TOLD = re.compile(r"cores are (\d+) ns a page apart")


def told_distances(comparison: Comparison) -> dict[str, int]:
    """By access, the nanoseconds for a page that Headrace's reason for its last path names, where
    it names any: a path that follows from the view alone has another reason."""
    found = {access: _TOLD.search(comparison.path(access)[1]) for access in comparison.job.accesses}
    return {access: int(match[1]) for access, match in found.items() if match}


def distance_table(results: Results) -> Table:
    """Headrace's share of the reference in rounds with near and with far cores, over all MPIs; no
    rows where no round tells which it was."""
    far = FAR * _least(results)
    shares: dict[tuple[str, str, str], dict[bool, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for measured, attempt, access, kind in measured_accesses(results, BY_NAME):
        case = BY_NAME[measured.point.case]
        if measured.point.ranks != DECISIVE_RANKS or case.reference in attempt.failed:
            continue
        for one in attempt.rounds:
            distance = one.core_distances.get(access)
            if distance is not None and case.reference in one.rates:
                share = one.rates[HEADRACE][access] / one.rates[case.reference][access]
                shares[case.title, access, kind][distance > far].append(share)
    rows = [(*place, _text(by[False]), _text(by[True])) for place, by in shares.items()]
    headers = ("job", "access", "files in", "near", "far")
    note = (
        "Headrace's share of the limit by round, all MPIs together; far: a page takes more than "
        f"{far} ns from core to core, twice the least that Headrace measured here; median, in "
        "brackets the number of rounds"
    )
    return Table("Cores near each other and far apart", headers, rows, note)


def _least(results: Results) -> int:
    return min(
        (
            distance
            for measured in results.points.values()
            for attempt in measured.attempts
            for one in attempt.rounds
            for distance in one.core_distances.values()
        ),
        default=0,
    )


def _text(shares: list[float]) -> str:
    return f"{median(shares):.0%} ({len(shares)})" if shares else ""
