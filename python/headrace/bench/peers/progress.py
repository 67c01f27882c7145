"""Tells how far a session has come and about how long the rest takes."""

import time
from collections.abc import Callable, Mapping, Sequence

from headrace.bench.peers.grid import Point
from headrace.bench.peers.results import Attempt, Results

# The first round, which keeps the files, compares them and tries the limit, in rounds.
FIRST_ROUND = 2.0


def duration_text(seconds: float) -> str:
    """ "3 h 20 min", "12 min", "40 s"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class Progress:
    """A line for each round, to `tell`."""

    def __init__(
        self,
        tell: Callable[[str], None],
        points: Sequence[Point],
        results: Results,
        rounds: int,
        names: Mapping[Point, str],
    ):
        self.tell = tell
        self._points = points
        self._results = results
        self._rounds = rounds
        self._names = names
        self._begin = time.monotonic()
        self._at_begin = self.rounds_left()
        self._last = ""

    def name(self, point: Point) -> str:
        return self._names[point]

    def rounds_left(self) -> float:
        """In rounds; a point that has not begun also has its first round before it."""
        return sum(self.left_at(point) for point in self._points)

    def points_left(self) -> int:
        return sum(self.left_at(point) > 0 for point in self._points)

    def left_at(self, point: Point) -> float:
        measured = self._results.points.get(point)
        if measured is None or not measured.attempts:
            return self._rounds + FIRST_ROUND
        attempt = measured.attempts[0]
        if attempt.is_complete(self._rounds):
            return 0
        first = 0 if attempt.labels else FIRST_ROUND
        return self._rounds - len(attempt.rounds) + first

    def left(self) -> str:
        """ "12 of 240 cells left, about 20 min"; the time as soon as there is a measure of it."""
        text = f"{self.points_left()} of {len(self._points)} cells left"
        done = self._at_begin - self.rounds_left()
        if done < 1:
            return text
        pace = (time.monotonic() - self._begin) / done
        return f"{text}, about {duration_text(pace * self.rounds_left())}"

    def begin(self, point: Point, attempt: Attempt) -> None:
        again = f", goes on after round {len(attempt.rounds)}" if attempt.rounds else ""
        self.tell(f"{self.name(point)}{again} ({self.left()})")

    def step(self, text: str) -> None:
        """One run begins; too much to tell, but where something fails it says during what."""
        self._last = text

    def round_done(self, point: Point, attempt: Attempt, rounds: int) -> None:
        noise = f", {attempt.rounds[-1].others:.0%} other work" if attempt.rounds else ""
        self.tell(
            f"{self.name(point)}: round {len(attempt.rounds)} of {rounds}{noise} ({self.left()})"
        )

    def failed(self, point: Point, why: str) -> None:
        self.tell(f"{self.name(point)}, {self._last}: {why}")
