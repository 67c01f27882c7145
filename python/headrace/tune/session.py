"""A run of `headrace tune`: measures, drafts a profile, and compares jobs with and without it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from headrace.statistics import paired_ratio
from headrace.tune import fit, output, patterns, profile
from headrace.tune.checking import Verdict, check
from headrace.tune.figures import Figure, Measured, to_text
from headrace.tune.patterns import Choice
from headrace.tune.running import Way, measure

# So many changed choices are measured by jobs, each with and without the profile so many times.
CONFIRMED = 2
ROUNDS = 6
# What a job takes to start and end, about, and the least time to measure in.
START_SECONDS = 1.0
LEAST_SECONDS = 0.3

Tell = Callable[[str], None]


class Session:
    """folder: an empty directory of the file system, which others clean up."""

    def __init__(self, way: Way, folder: Path, environ: Mapping[str, str]):
        self._way = way
        self._folder = folder
        self._environ = environ
        self.measured: Measured
        self.rows: list[fit.Row]

    def measure(self, seconds: float, tell: Tell) -> None:
        self.measured = measure(
            self._way,
            self._folder,
            [],
            seconds,
            self._environ,
            lambda number, of, name: tell(f"{number} of {of}: {name}"),
        )
        self.rows = fit.rows(self.measured)

    def _text(self, place: Path) -> str:
        return profile.to_toml(self.measured, self.rows, profile.figures_file(place).name)

    def draft(self, place: Path) -> Path:
        """The profile before it is kept, in the folder. It counts on any processor, since this
        machine may have another one than those that ranks run on."""
        draft = self._folder / place.name
        profile.write(draft, profile.for_any_processor(self._text(place)))
        return draft

    def keep(self, place: Path) -> None:
        """The figures first: a profile never names a file that is not there."""
        profile.write(profile.figures_file(place), to_text(self.measured))
        profile.write(place, self._text(place))

    def choices(self, draft: Path) -> list[Choice]:
        return patterns.choose(self.measured, self._folder, draft, self._environ)

    def confirm(
        self, console: Console, draft: Path, choices: Sequence[Choice], seconds: float, tell: Tell
    ) -> None:
        """Measures the two changed choices that promise most, by jobs in turns."""
        changed = sorted(
            (one for one in choices if one.gain is not None),
            key=lambda one: one.gain.median if one.gain else 0,
            reverse=True,
        )[:CONFIRMED]
        if not changed:
            output.show_line(console, "The profile changes no choice, so there is nothing to gain.")
            return
        each = seconds / len(changed) / ROUNDS / 2 - START_SECONDS
        for one in changed:
            times: dict[str, list[float]] = {"none": [], str(draft): []}
            paths: dict[str, str] = {}
            for number in range(ROUNDS):
                tell(f"{one.pattern.title}, with and without the profile, {number + 1} of {ROUNDS}")
                for name in sorted(times, reverse=number % 2 == 0):
                    found = self._pattern(one, name, max(LEAST_SECONDS, each))
                    times[name].append(found.nanoseconds)
                    paths[name] = found.path
            gain = paired_ratio(times["none"], times[str(draft)])
            taken = f"{paths['none']}, then {paths[str(draft)]}"
            output.show_confirmed(console, one.pattern, gain, taken)

    def _pattern(self, choice: Choice, name: str, seconds: float) -> Figure:
        pattern = choice.pattern
        flags = ["--piece", str(pattern.bytes), "--pieces", str(pattern.pieces)]
        found = measure(
            self._way,
            self._folder,
            flags,
            seconds,
            self._environ,
            lambda *_: None,
            {"HEADRACE_PROFILE": name},
        )
        return found.all_of(f"{pattern.direction}_pattern")[0]

    def check(self, there: profile.Profile) -> Verdict:
        draft = self.draft(there.path)
        now = {one.pattern: one.after for one in self.choices(draft)}
        wrong = profile.misfits(there, self.measured)
        copy = self._folder / "then.toml"
        profile.write(copy, profile.for_any_processor(there.path.read_text()))
        then = now if wrong else {one.pattern: one.after for one in self.choices(copy)}
        return check(there, self.measured, self.rows, then, now)
