"""Samples as folded stacks: a line for each, its functions from the outside in, then how many."""

from collections import Counter
from pathlib import Path

from headrace.errors import unwritable
from headrace.profile.export.stacks import by_rank, stacks_by_thread, title
from headrace.record.export.output import new_file
from headrace.record.tables import Record


def write(record: Record, path: Path) -> None:
    text = "\n".join(folded(record))
    new_file(path)
    try:
        path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(path, error) from error


def folded(record: Record) -> list[str]:
    """Sorted."""
    counts: Counter[str] = Counter()
    for thread, stacks in by_rank(stacks_by_thread(record)):
        for one in stacks:
            words = [title(thread), *(line.function for line in one.lines)]
            counts[";".join(map(_word, words))] += one.samples
    return [f"{stack} {count}" for stack, count in sorted(counts.items())]


def _word(text: str) -> str:
    """Without what separates words and lines, or a terminal would obey."""
    return "".join(each if each.isprintable() else " " for each in text.replace(";", ","))
