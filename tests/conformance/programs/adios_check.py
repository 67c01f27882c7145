"""Reads by bpls, without MPI, what adios_write left. usage: adios_check.py FILE RANKS"""

import subprocess
import sys

ROWS, COLUMNS, STEPS = 6, 29, 4
# Debian's bpls is the same for all MPIs.
DUMP = ["bpls.openmpi", "-d", "-y", "-n", str(COLUMNS), "-f", "%.17g"]


def main() -> None:
    path, ranks = sys.argv[1], int(sys.argv[2])
    done = subprocess.run([*DUMP, path, "numbers"], capture_output=True, text=True, check=True)
    title, *lines = (line for line in done.stdout.splitlines() if line.strip())
    assert f"{STEPS}*{{{ROWS * ranks}, {COLUMNS}}}" in title, title
    found = [float(word) for line in lines for word in line.split()]
    expected = [
        row * 1000 + column + step * 0.25
        for step in range(STEPS)
        for row in range(ROWS * ranks)
        for column in range(COLUMNS)
    ]
    assert found == expected


if __name__ == "__main__":
    main()
