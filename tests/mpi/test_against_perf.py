"""The profile of a job is what Linux' own perf saw of the same job, function by function."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from measuring import measuring
from running import launch, work_directory
from test_profile import RANKS, SECONDS, program, sampled
from test_recorder import report_of

RATE = 997  # a second; 1,000 would keep step with the system's clock
LEAST = 0.02  # of all samples: functions below that are not compared
NEAR = {"perf": 0.03, "timer": 0.08}  # of all samples; the timer takes a fourth of them
COUNTED = re.compile(r"\s*(\d+)\s+\[\.\]\s+(\S+)")


def perf_works(folder: Path) -> bool:
    line = ["perf", "record", "-q", "-e", "cpu-clock", "-o", folder / "trial", "true"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


def seen_by_perf(data: Path) -> Counter[str]:
    """Samples in the program and its libraries, by function."""
    line = ["perf", "report", "-i", data, "--no-children", "-F", "sample,sym", "--stdio", "-q"]
    done = subprocess.run([*line, "-g", "none"], capture_output=True, text=True, check=True)
    found: Counter[str] = Counter()
    for samples, name in COUNTED.findall(done.stdout):
        found[name] += int(samples)
    return found


@pytest.mark.parametrize("source", ["perf", "timer"])
def test_functions_are_those_that_perf_saw(host: Host, source: str, library: Path) -> None:
    folder = work_directory(f"against-perf-{host.name}-{source}")
    if not shutil.which("perf"):
        absent("perf is not installed")
    if not perf_works(folder):
        pytest.skip("perf may not count here")
    rank = "rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = f'{rank}; exec perf record -q -F {RATE} -e cpu-clock -o {folder}/perf.$rank "$@"'
    own = sampled(folder, source) | {"HEADRACE_SAMPLING_RATE": str(RATE)}
    line = ["sh", "-c", script, "sh", program(host), SECONDS]
    result = launch(host, RANKS, line, True, own)
    assert result.code == 0, result.explain()
    theirs = sum((seen_by_perf(folder / f"perf.{rank}") for rank in range(RANKS)), Counter())
    (record,) = folder.glob("*.hrc")
    ours: Counter[str] = Counter()
    for one in report_of(record)["profile"]["functions"]:
        # The timer's are fewer than asked for; the report's seconds count each for more.
        ours[one["name"]] += round(one["seconds"] * RATE)
    whole = sum(theirs.values())
    compared = [name for name, count in theirs.items() if count > LEAST * whole]
    assert sum(theirs[name] for name in compared) > whole / 2, theirs.most_common(9)
    far = {
        name: (theirs[name], ours[name])
        for name in compared
        if not name.startswith("0x") and abs(theirs[name] - ours[name]) > NEAR[source] * whole
    }
    with measuring():
        assert not far, (whole, far)
