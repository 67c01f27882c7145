"""The table of collective operations that comes with Headrace says no more than what
docs/collectives.md has measured."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = {"MPICH": "mpich", "Open MPI": "openmpi", "Intel MPI": "intel"}
HEADER = "| | 8 B | 1 KiB | 32 KiB | 1 MiB |"
SIZES = (8, 1 << 10, 32 << 10, 1 << 20)
ROW = re.compile(r"\| (MPICH|Open MPI|Intel MPI) (\w+) \|(.*)\|")
# Measurably more than 1.03, as the page shows it.
BOLD = re.compile(r"\*\*([\d.]+)\*\*")


def measured() -> dict[tuple[str, str, int], str]:
    """Cells of the page's table, by library, operation and bytes."""
    text = (ROOT / "docs" / "collectives.md").read_text()
    _, _, behind = text.partition(HEADER)
    rows = ROW.findall(behind.partition("\n\n")[0])
    return {
        (LIBRARIES[library], operation, size): cell.strip()
        for library, operation, cells in rows
        for size, cell in zip(SIZES, cells.split("|"), strict=True)
    }


def test_rows_gain_no_more_than_was_measured() -> None:
    found = measured()
    assert len(found) == 48
    uses = tomllib.loads((ROOT / "spec" / "collectives.toml").read_text())["use"]
    checked = 0
    for use in uses:
        for size in SIZES:
            cell = found.get((use["library"], use["operation"], size))
            if cell is None or not use["least"] <= size <= use["most"]:
                continue
            gain = BOLD.fullmatch(cell)
            assert gain and float(gain[1]) >= use["gain"], (use, size, cell)
            checked += 1
    assert checked > 8
