"""A run of `headrace tune`: measures, drafts a profile, and compares jobs with and without it."""

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from headrace.errors import HeadraceError, say
from headrace.statistics import Interval, paired_ratio
from headrace.tune import fit, gains, output, patterns, profile
from headrace.tune.checking import Verdict, check
from headrace.tune.figures import Figure, Measured, to_text
from headrace.tune.gains import EVERYWHERE, Ranges
from headrace.tune.patterns import Choice, Pattern, is_gain
from headrace.tune.running import Way, measure

# Jobs with and without the profile, of each choice that they confirm.
ROUNDS = 6
# Names in the directory that is measured, which its own files do not have.
DRAFT, THEN = "draft.toml", "then.toml"
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

    def _text(
        self,
        place: Path,
        counts: Ranges,
        notes: Sequence[str] = (),
        denied: Collection[Pattern] = (),
    ) -> str:
        figures = profile.figures_file(place).name
        return profile.to_toml(self.measured, self.rows, figures, counts, notes, denied)

    def draft(self, counts: Ranges = EVERYWHERE) -> Path:
        """The profile before it is kept, in the folder. It counts on any processor, since this
        machine may have another one than those that ranks run on."""
        draft = self._folder / DRAFT
        profile.write(draft, profile.for_any_processor(self._text(draft, counts)))
        return draft

    def keep_somewhere(
        self, place: Path, choices: Sequence[Choice], denied: Mapping[Pattern, Interval]
    ) -> tuple[Path, Ranges]:
        """Where `place` cannot be written after all, the profile goes here or to the directory for
        temporary files, so that it is not lost. Returns where it is, too."""
        try:
            return place, self.keep(place, choices, denied)
        except HeadraceError as error:
            for folder in (Path(), Path(tempfile.gettempdir())):
                other = folder.absolute() / place.name
                with suppress(HeadraceError, OSError):
                    profile.require_place(other)
                    counts = self.keep(other, choices, denied)
                    say(str(error))
                    return other, counts
            raise

    def keep(
        self, place: Path, choices: Sequence[Choice], denied: Mapping[Pattern, Interval]
    ) -> Ranges:
        """The figures first: a profile never names a file that is not there. Returns for which
        pieces it counts."""
        counts = gains.ranges(
            [one.pattern for one in choices if one.is_proven and one.pattern not in denied]
        )
        notes = output.choice_notes(choices, denied)
        text = self._text(place, counts, notes, denied)
        old = profile.keep_better(place, self.measured.node_ranks, any(counts.values()))
        profile.write(profile.figures_file(place), to_text(self.measured))
        profile.write(place, text)
        if old is not None:
            say(f"the profile that was there, of more ranks or choices, is kept as '{old}'")
        return counts

    def choices(self, draft: Path) -> list[Choice]:
        return patterns.choose(self.measured, self._folder, draft, self._environ)

    def confirm(
        self, console: Console, choices: Sequence[Choice], seconds: float, tell: Tell
    ) -> dict[Pattern, Interval]:
        """Measures the choices that gain most and least by jobs with and without the profile, in
        turns. Returns those that gain nothing there, with what they gain."""
        chosen = gains.to_confirm(choices)
        if not chosen:
            output.show_line(
                console,
                "No choice is measurably faster by these costs, so the built-in ones stay.",
            )
            return {}
        draft = self.draft(gains.ranges([one.pattern for one in choices if one.is_proven]))
        each = max(LEAST_SECONDS, seconds / len(chosen) / ROUNDS / 2 - START_SECONDS)
        denied = {}
        for one in chosen:
            gain, taken = self._compare(one, draft, each, tell)
            output.show_confirmed(console, one.pattern, gain, taken)
            if not is_gain(gain):
                denied[one.pattern] = gain
        return denied

    def _compare(
        self, choice: Choice, draft: Path, seconds: float, tell: Tell
    ) -> tuple[Interval, str]:
        times: dict[str, list[float]] = {"none": [], str(draft): []}
        paths: dict[str, str] = {}
        for number in range(ROUNDS):
            title = choice.pattern.title
            tell(f"{title}, with and without the profile, {number + 1} of {ROUNDS}")
            for name in sorted(times, reverse=number % 2 == 0):
                found = self._pattern(choice, name, seconds)
                times[name].append(found.nanoseconds)
                paths[name] = found.path
        gain = paired_ratio(times["none"], times[str(draft)])
        return gain, f"{paths['none']}, then {paths[str(draft)]}"

    def _pattern(self, choice: Choice, name: str, seconds: float) -> Figure:
        pattern = choice.pattern
        flags = ["--piece", str(pattern.bytes), "--pieces", str(pattern.pieces)]
        flags += ["--reads"] if pattern.direction == "read" else []
        found = measure(
            self._way,
            self._folder,
            flags,
            seconds,
            self._environ,
            lambda *_: None,
            {"HEADRACE_PROFILE": name},
        )
        return found.figures[0]

    def check(self, there: profile.Profile) -> Verdict:
        """Choices now are those that a profile of what was measured now would change."""
        now = {
            one.pattern: one.after if one.is_proven else one.before
            for one in self.choices(self.draft())
        }
        wrong = profile.misfits(there, self.measured)
        copy = self._folder / THEN
        text = there.path.read_text(encoding="utf-8", errors="surrogateescape")
        profile.write(copy, profile.for_any_processor(text))
        then = now if wrong else {one.pattern: one.after for one in self.choices(copy)}
        return check(there, self.measured, self.rows, then, now)
