"""`python -m tools.generate` writes all generated files, `--check` only compares them."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from tools.generate import (
    collectives,
    costs,
    counters,
    datatypes,
    hints,
    library_algorithms,
    limits,
    mpi,
    record_tables,
    recorded_every,
    settings,
    trace_groups,
    verdict,
)
from tools.generate.rendering import Output, SpecError, finish

ROOT = Path(__file__).resolve().parents[2]


def outputs() -> list[Output]:
    """All generated files, with their text as it must be committed."""
    made = []
    modules = (
        *(settings, hints, limits, datatypes, costs, collectives, library_algorithms),
        *(mpi, record_tables, recorded_every, verdict, counters, trace_groups),
    )
    for module in modules:
        made += module.outputs(ROOT / "spec")
    return finish(made)


def difference(output: Output) -> str:
    """A unified diff from the file as it is to the file as it should be; empty when equal."""
    path = ROOT / output.path
    present = path.read_text() if path.exists() else ""
    return "".join(
        difflib.unified_diff(
            present.splitlines(keepends=True),
            output.text.splitlines(keepends=True),
            fromfile=f"a/{output.path}",
            tofile=f"b/{output.path}",
        )
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on differences")
    arguments = parser.parse_args()
    try:
        made = outputs()
    except SpecError as error:
        print(f"generate: {error}", file=sys.stderr)
        return 2
    outdated = 0
    for output in made:
        diff = difference(output)
        if not diff:
            continue
        outdated += 1
        if arguments.check:
            print(diff, end="")
        else:
            path = ROOT / output.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(output.text)
            print(f"wrote {output.path}")
    if arguments.check and outdated:
        print(
            f"generate: {outdated} generated files differ from spec/ "
            "(edited by hand, or not generated again), run: python -m tools.generate",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
