"""Playing a collective write by the program `simulate`."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.bench.programs import find_file
from headrace.errors import HeadraceError


@dataclass(frozen=True)
class Played:
    """What the program told of one job: its numbers, and for each method its counts."""

    job: Mapping[str, Any]

    @property
    def methods(self) -> Sequence[Mapping[str, Any]]:
        return self.job["methods"]

    def of(self, method: str) -> Mapping[str, Any]:
        return next(one for one in self.methods if one["method"] == method)


def play(flags: Mapping[str, int], costs: Sequence[str]) -> Played:
    """`flags`: those of the program, without hyphens in front; `costs`: NAME=VALUE."""
    line = [str(find_file("simulate", os.environ))]
    for name, value in flags.items():
        line += [f"--{name}", str(value)]
    for cost in costs:
        line += ["--cost", cost]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        # The program's own line is whole; its name in front is not the user's word for it.
        problem = (
            done.stderr.strip().removeprefix("simulate: ").removesuffix(", --help lists the flags")
        )
        text, _, why = problem.partition(" (")
        raise HeadraceError(
            text or "the job cannot be played",
            why.removesuffix(")") or f"the program ended with code {done.returncode}",
            "see 'headrace simulate --help'",
        )
    return Played(json.loads(done.stdout))
