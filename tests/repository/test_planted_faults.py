"""The faults that ./dev faults plants: a patch that no longer applies tests nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import source_tree

TESTS = source_tree.ROOT / "tests"
FOLDERS = (
    TESTS / "fuzz" / "faults",
    TESTS / "faults" / "planted",
    TESTS / "unit" / "faults",
)


def patches(*folders: Path) -> list[Path]:
    return sorted(path for path in source_tree.with_suffix(".patch") if path.parent in folders)


def test_each_fault_can_be_planted() -> None:
    rotten = []
    for patch in patches(*FOLDERS):
        command = ["git", "apply", "--check", patch]
        done = subprocess.run(
            command, cwd=source_tree.ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            rotten.append(f"{patch.name}: {done.stderr.strip()}")
    assert not rotten, "plant the same faults in today's code:\n" + "\n".join(rotten)


def test_faults_are_numbered() -> None:
    for folder in FOLDERS:
        numbers = [patch.name.split("-")[0] for patch in patches(folder)]
        assert numbers
        assert numbers == [f"{number:02}" for number in range(1, len(numbers) + 1)]
