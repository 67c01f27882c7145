"""What a report says of changes since a baseline."""

from dataclasses import dataclass

from headrace.report.table import Table


@dataclass(frozen=True)
class Since:
    """lines: in a sentence or two, and which runs. report/comparison_text.py makes it."""

    lines: tuple[str, ...]
    tables: tuple[Table, ...]
