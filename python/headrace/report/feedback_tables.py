"""What compilers say of hot lines, as a loopmark listing."""

import re
from collections.abc import Sequence

from headrace.feedback.loops import indent
from headrace.feedback.remark import LETTERS, Remark
from headrace.profile.loopmark import ListedFile, ListedLine, Listing
from headrace.profile.profile import Profile
from headrace.report.tables import Table
from headrace.symbols.names import demangled
from headrace.texts import shown

MOST_ROWS = 60
MOST_PROBLEMS = 10
LONGEST_SOURCE = 70
LONGEST_REMARK = 120
LONGEST_NAME = 60
DEEPEST = 24  # columns of indentation that are shown
_MANGLED = re.compile(r"\b_Z\w+")
_BLANK = "\N{NO-BREAK SPACE}"


def feedback_tables(found: Profile, listing: Listing | None) -> list[Table]:
    """None if remarks were not asked for."""
    if listing is None:
        return []
    names = _names([one.file for one in listing.files])
    rows = [row for one in listing.files for row in _rows(found, one, names[one.file])]
    has_remarks = any(own.remarks for one in listing.files for own in one.lines)
    notes = [_legend() if has_remarks else _nothing(found, listing)]
    if len(rows) > MOST_ROWS:
        notes.append(f"{len(rows) - MOST_ROWS} more lines are in --json")
    notes += map(_whole, (*listing.notes, *listing.problems[:MOST_PROBLEMS]))
    if len(listing.problems) > MOST_PROBLEMS:
        notes.append(f"{len(listing.problems) - MOST_PROBLEMS:,} more problems are in --json")
    headers = ("line ", "share", "marks ", "source ", "remarks ")
    return [Table("Compilers' remarks on hot lines", headers, rows[:MOST_ROWS], "\n".join(notes))]


def _whole(text: str) -> str:
    return shown(text, 400)


def _legend() -> str:
    letters = ", ".join(f"{letter} {what}" for what, letter in LETTERS.items())
    return f"{letters}; a small letter: not, and why; lines of 1 % and more, and their loops"


def _nothing(found: Profile, listing: Listing) -> str:
    """Why no remark is shown."""
    if not any(one.place.file for one in found.lines):
        return (
            "no hot line has a number: compile with -g, and make the report where the program's "
            "files are"
        )
    if not listing.read:
        return "no remarks were found; docs/profile.md says how compilers are asked for them"
    return f"none of the {listing.read:,} files of remarks is about hot lines"


def _names(files: Sequence[str]) -> dict[str, str]:
    """Without folders, but as many as tell files of one name apart."""
    made = {}
    for file in files:
        parts = file.split("/")
        ends = ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
        alone = (end for end in ends if sum(f"/{one}".endswith(f"/{end}") for one in files) == 1)
        made[file] = shown(next(alone, file), LONGEST_NAME)
    return made


def _rows(found: Profile, one: ListedFile, name: str) -> list[tuple[str, ...]]:
    least = min((indent(own.source) for own in one.lines if (own.source or "").strip()), default=0)
    return [
        (
            f"{name}:{own.line}",
            f"{found.share(own.time):.1%}" if own.time else "",
            own.marks,
            _source(own, least),
            "\n".join(map(remark_text, own.remarks)) or _of_loop(own),
        )
        for own in one.lines
    ]


def _source(one: ListedLine, least: int) -> str:
    if one.source is None:
        return ""
    deep = max(0, min(DEEPEST, indent(one.source) - least))
    return _BLANK * deep + shown(one.source.strip(), LONGEST_SOURCE)


def remark_text(one: Remark) -> str:
    text = shown(_MANGLED.sub(lambda found: demangled(found[0]), one.text), LONGEST_REMARK)
    if one.is_done:
        return text or one.kind
    return f"not {one.kind}, because {text}" if text else f"not {one.kind}"


def _of_loop(one: ListedLine) -> str:
    """Of a line of which nothing is said itself."""
    if one.is_vectorised is None:
        return ""
    return "in a vectorised loop" if one.is_vectorised else "in a loop that is not vectorised"
