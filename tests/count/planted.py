"""Plants regressions in the counted cases; the comparison must name each."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

COMPARE = Path(__file__).resolve().parent / "compare.py"

# What is planted, and counts that must be told to have grown.
PLANTS = {
    "store": ["tile_1000B_2_ranks.write: store_writes"],
    "meeting": ["tile_1000B_2_ranks.read: posts"],
    "copy": ["tile_100KB_2_ranks.read: bytes_copied", "irregular_2_ranks.write: bytes_copied"],
}


def problem_with(program: str, plant: str) -> str:
    """Why the planted regression was not told as it must be; empty where it was."""
    command = [sys.executable, str(COMPARE), "operations", program, "--plant", plant]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 1:
        return f"exit code {done.returncode} instead of 1\n{done.stdout}{done.stderr}"
    for count in PLANTS[plant]:
        found = re.search(re.escape(count) + r" (\d+) -> (\d+)", done.stdout)
        if found is None or int(found[2]) <= int(found[1]):
            return f"'{count}' is not among what grew:\n{done.stdout}"
    if "./dev count --record" not in done.stdout:
        return "it is not said how to record a new baseline"
    return ""


def main() -> int:
    problems = {plant: problem_with(sys.argv[1], plant) for plant in PLANTS}
    for plant, problem in problems.items():
        print(f"{plant}: {problem or 'found'}")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
