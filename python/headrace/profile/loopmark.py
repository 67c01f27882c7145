"""Hot lines of the profile with what compilers did to them: a loopmark listing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.feedback import paths
from headrace.feedback.files import Feedback, read
from headrace.feedback.loops import around
from headrace.feedback.remark import LETTERS, VECTORISED, Remark
from headrace.profile.functions import is_of
from headrace.profile.profile import Profile

LEAST_SHARE = 0.01  # of a hot line
MOST_LINES = 200
LATER = 2.0  # seconds that a file may be younger than the program


@dataclass(frozen=True)
class ListedLine:
    """samples, time (ns): may be 0 of a line where a loop begins. source: its text, or None.
    is_vectorised: is the innermost loop that has it; None: no compiler says so, and no_vector is
    the reason if it is not."""

    line: int
    samples: int
    time: int
    functions: tuple[str, ...]
    source: str | None
    remarks: tuple[Remark, ...]
    is_vectorised: bool | None
    no_vector: str

    @property
    def marks(self) -> str:
        """Letters, small ones for what was not done."""
        found = dict.fromkeys(
            LETTERS[one.kind] if one.is_done else LETTERS[one.kind].lower() for one in self.remarks
        )
        return "".join(sorted(found, key=lambda one: list(LETTERS.values()).index(one.upper())))


@dataclass(frozen=True)
class ListedFile:
    file: str
    lines: tuple[ListedLine, ...]


@dataclass(frozen=True)
class Listing:
    """files: those with most time first; lines in their order. read: files of remarks. problems:
    what could not be read; notes: what may be of another build."""

    files: tuple[ListedFile, ...]
    read: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    def by_place(self) -> dict[tuple[str, int], ListedLine]:
        """By file and number."""
        return {(one.file, own.line): own for one in self.files for own in one.lines}


@dataclass
class _Sums:
    """functions: time of each, by the names of the ones that the compiler made and of inlined
    ones."""

    samples: int
    time: int
    functions: dict[str, int]


def listing(found: Profile, folders: Sequence[Path], built: float | None) -> Listing:
    """folders: or files, of remarks. built: when the youngest file that has hot lines was written,
    seconds since 1970, or None."""
    hot = _hot(found)
    names = frozenset(Path(file).name for file in hot)
    told = read(folders, names)
    by_file = _by_file(told, hot)
    roots = [path if path.is_dir() else path.parent for path in folders]
    roots += [root.absolute().parent for root in roots]
    files = []
    for file, lines in hot.items():
        text = paths.source(file, roots)
        listed = _listed(lines, by_file.get(file, ()), text)
        files.append((sum(one.time for one in lines.values()), ListedFile(file, listed)))
    files.sort(key=lambda one: (-one[0], one[1].file))
    return Listing(
        tuple(one for _, one in files if any(own.remarks or own.source for own in one.lines)),
        len(told.files),
        tuple(told.problems),
        tuple(_notes(told, built)),
    )


def _hot(found: Profile) -> dict[str, dict[int, _Sums]]:
    """Lines by file and number, whichever functions have them."""
    sums: dict[tuple[str, int], _Sums] = {}
    for one in found.lines:
        if one.place.file and one.place.line:
            key = one.place.file, one.place.line
            own = sums.setdefault(key, _Sums(0, 0, {}))
            own.samples += one.samples
            own.time += one.time
            for name in {one.place.function, one.place.inlined} - {""}:
                own.functions[name] = own.functions.get(name, 0) + one.time
    hot: dict[str, dict[int, _Sums]] = defaultdict(dict)
    costliest = sorted(sums.items(), key=lambda item: -item[1].time)[:MOST_LINES]
    for (file, line), own in costliest:
        if found.share(own.time) >= LEAST_SHARE:
            hot[file][line] = own
    return hot


def _by_file(
    told: Feedback, hot: Mapping[str, Mapping[int, _Sums]]
) -> dict[str, tuple[Remark, ...]]:
    """Remarks by the file of debugging information that they are about."""
    known = paths.pairs(
        ((one.file, own.path) for own in told.files for one in own.remarks if one.file), hot
    )
    functions = {file: _functions(lines) for file, lines in hot.items()}
    found: dict[str, dict[Remark, None]] = defaultdict(dict)
    for own in told.files:
        for one in own.remarks:
            match = known.get((one.file, own.path)) if one.file else paths.Match(tuple(hot), False)
            for file in match.files if match else ():
                is_certain = match.is_certain or (one.file and not one.function)
                if is_certain or is_of(one, functions[file]):
                    found[file][one] = None
    return {file: _of_sampled(remarks, functions[file]) for file, remarks in found.items()}


def _functions(lines: Mapping[int, _Sums]) -> dict[str, int]:
    """Of a file, those with most time first, with their time."""
    times: dict[str, int] = defaultdict(int)
    for own in lines.values():
        for name, time in own.functions.items():
            times[name] += time
    return dict(sorted(times.items(), key=lambda item: (-item[1], item[0])))


def _of_sampled(remarks: Iterable[Remark], functions: Mapping[str, int]) -> tuple[Remark, ...]:
    """Without those on functions that were not sampled, where a line has some on others that were:
    a template's line is in many functions."""
    own = list(remarks)
    sampled = {one for one in own if is_of(one, functions)}
    places = {(one.kind, one.line) for one in sampled}
    return tuple(
        one
        for one in own
        if one in sampled or not one.function or (one.kind, one.line) not in places
    )


def _listed(
    hot: Mapping[int, _Sums], remarks: Sequence[Remark], text: list[str] | None
) -> tuple[ListedLine, ...]:
    """The hot lines, and those where loops begin that have them, if anything is said of these."""
    at: dict[int, list[Remark]] = defaultdict(list)
    for one in remarks:
        at[one.line].append(one)
    begins = [one.line for one in remarks if one.is_loop]
    loops = {line: _loops(line, hot[line], begins, at, text) for line in hot}
    shown = set(hot) | {begin for own in loops.values() for begin in own}
    made = []
    for line in sorted(shown):
        inside = loops.get(line) or around(line, begins, text)
        is_vectorised, why = _verdict(line, inside, at, hot)
        own = [one for one in at[line] if is_vectorised is not True or not _is_beside(one)]
        own.sort(key=lambda one: list(LETTERS).index(one.kind))
        told = {(one.kind, one.is_done, one.text): one for one in own}
        sums = hot.get(line, _Sums(0, 0, {}))
        source = text[line - 1].rstrip() if text and line <= len(text) else None
        made.append(
            ListedLine(
                line, sums.samples, sums.time, tuple(sums.functions), source,
                tuple(told.values()),
                is_vectorised, why,
            )
        )  # fmt: skip
    return tuple(made)


def _loops(
    line: int, sums: _Sums, begins: Sequence[int], at: Mapping[int, list[Remark]],
    text: list[str] | None,
) -> list[int]:  # fmt: skip
    """Without the source, only loops of the line's own function, as far as that is told."""
    inside = around(line, begins, text)
    if text is not None:
        return inside
    near = [
        begin
        for begin in inside
        if begin == line
        or any(
            one.is_loop and (not one.function or is_of(one, sums.functions)) for one in at[begin]
        )
    ]
    return near[:1]


def _is_beside(one: Remark) -> bool:
    """A statement that kept an outer loop from being vectorised."""
    return one.kind == VECTORISED and not one.is_done and not one.is_loop


def _verdict(
    line: int, loops: Sequence[int], at: Mapping[int, list[Remark]], hot: Mapping[int, _Sums]
) -> tuple[bool | None, str]:
    """Of the innermost loop of which a compiler says whether it was vectorised, in the function
    that has most of the line's time."""
    names = list(_functions({line: hot[line]} if line in hot else hot))
    for begin in loops:
        said = [one for one in at[begin] if one.kind == VECTORISED and one.is_loop]
        of_each = ([one for one in said if is_of(one, [name])] for name in names)
        said = next(filter(None, of_each), said)
        if any(one.is_done for one in said):
            return True, ""
        if said:
            inside = (one for number in range(begin, line + 1) for one in at.get(number, ()))
            reasons = [one.text for one in (*said, *filter(_is_beside, inside)) if one.text]
            return False, reasons[0] if reasons else ""
    return None, ""


def _notes(told: Feedback, built: float | None) -> list[str]:
    later = [
        one.path for one in told.files if one.remarks and built and one.written > built + LATER
    ]
    if not later:
        return []
    more = f" and {len(later) - 1} more" if len(later) > 1 else ""
    return [
        f"remarks may be of another build than the program that ran: '{later[0]}'{more} "
        f"{'is' if len(later) == 1 else 'are'} younger than it"
    ]
