"""The findings as a section of a Markdown file, between two markers."""

import os
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from headrace.bench import report
from headrace.bench.peers import tables
from headrace.bench.peers.core_distance import distance_table
from headrace.bench.peers.judgement import Verdict, judge
from headrace.bench.peers.results import Results
from headrace.bench.peers.targets import DECISIVE_RANKS
from headrace.errors import HeadraceError

BEGIN = "<!-- bench peers begin -->"
END = "<!-- bench peers end -->"
WIDTH = 104


def section(results: Results, picture: str = "") -> str:
    """The text between the markers; `picture`: the path of the figure as the document names it."""
    verdicts = judge(results)
    parts = [
        *textwrap.wrap(circumstances(results, verdicts), WIDTH, break_on_hyphens=False),
        "",
        *([f"![Share of the limit by size of pieces]({picture})", ""] if picture else []),
        *_tables(results, verdicts),
        *settings(results),
    ]
    return "\n".join(parts).rstrip() + "\n"


def picture_link(figure: Path | None, page: str) -> str:
    """The path of a figure's SVG file as seen from the page that shows it; empty without one."""
    if figure is None:
        return ""
    return Path(os.path.relpath(f"{figure}.svg", Path(page).parent)).as_posix()


def _tables(results: Results, verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield from tables.markdown(tables.loss_table(verdicts))
    for table in tables.share_tables(verdicts, DECISIVE_RANKS):
        yield from tables.markdown(table)
    by_distance = distance_table(results)
    if by_distance.rows:
        yield from tables.markdown(by_distance)
    for table in (tables.mean_table(verdicts), tables.target_table(verdicts)):
        yield from tables.markdown(table)


def circumstances(results: Results, verdicts: Sequence[Verdict]) -> str:
    """When, where and how often it was measured."""
    counts = sorted({one.rate.count for one in verdicts})
    rounds = " to ".join(dict.fromkeys(map(str, (counts[0], counts[-1])))) if counts else "no"
    noisy = sum(one.is_noisy for one in verdicts)
    megabytes = f"{results.identity['size'] / 1e6:.0f} MB"
    return (
        f"{measured_how(results, 'peers')}: ways alternate, rounds: {rounds}, {megabytes} in a "
        "call or a loop of calls, up to four times as many where pieces have 64 B or more. "
        f"Measured beside other work: {noisy} of {len(verdicts)} cells."
    )


def measured_how(results: Results, command: str) -> str:
    """When, with what, where, and by which command."""
    attempts = [one.best() for one in results.points.values()]
    dates = sorted({one.date[:10] for one in attempts if one and one.rounds})
    machine = results.identity["machine"]
    when = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "not yet"
    return (
        f"Measured {when} with Headrace {results.identity['headrace']} on {machine['cores']} cores "
        f"({machine['processor']}, {machine['GiB']} GiB), files in the page cache of "
        f"{', '.join(dict.fromkeys(results.file_systems.values()))}, by `headrace bench {command}`"
    )


def settings(results: Results) -> list[str]:
    """What each MPI was given in all its runs."""
    pairs = {f"{one.title}: {one.settings}" for one in results.points.values()}
    return [f"- {text}" for text in sorted(pairs)]


def write(path: str, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Into a new file, to standard output ("-"), or between the markers of a file that is there."""
    file = Path(path)
    if path != "-" and file.is_file():
        text = replaced(_read(file), text, path, begin, end)
    elif path != "-":
        text = f"{begin}\n{text}{end}\n"
    report.write_text(path, text)


def require_place(path: str, begin: str, end: str) -> None:
    """Raises where write() would find no place in the file that is there."""
    file = Path(path)
    if path != "-" and file.is_file():
        replaced(_read(file), "", path, begin, end)


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, ValueError) as error:
        raise HeadraceError(f"'{file}' cannot be read", str(error), "give another file") from error


def replaced(document: str, text: str, path: str, begin: str = BEGIN, end: str = END) -> str:
    """The document with `text` between its markers, which must be there once."""
    if (
        document.count(begin) != 1
        or document.count(end) != 1
        or (document.index(begin) > document.index(end))
    ):
        raise HeadraceError(
            f"'{path}' is left as it is",
            f"it does not hold '{begin}' and then '{end}', once each",
            "put them where the tables belong, or give a new file",
        )
    head, rest = document.split(begin)
    return f"{head}{begin}\n{text}{end}{rest.split(end)[1]}"
