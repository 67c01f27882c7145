"""Rough places: without standard descriptors, working directory, HOME or TMPDIR. All goes on as it
does without the layer, and nothing of the layer gets into files of the program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch

from faults import table

SOURCES = ["rough_place.c", "harness.c", "harness_calls.c", "harness_data.c"]
WITHOUT_DESCRIPTORS = 'exec "$@" 0<&- 1>&- 2>&-'
WITHOUT_DIRECTORY = 'gone=$(mktemp -d) && cd "$gone" && rmdir "$gone" && exec "$@"'
WITHOUT_HOME = 'unset HOME TMPDIR TMP TEMP; exec "$@"'
ABSENT_HOME = 'export HOME=/absent TMPDIR=/absent/tmp TMP=/absent TEMP=/absent; exec "$@"'
RIGHT = ["open SUCCESS", "sync SUCCESS", "read right", "close SUCCESS", "data right"]
# What makes the layer speak: a summary, and a variable that does not exist.
SPEAKING = {"HEADRACE_QUIET": "0", "HEADRACE_NO_SETTING": "1"}


@dataclass(frozen=True)
class Place:
    """shell: how a rank gets there; when: the program opens files of its own; name: of the file
    that it opens instead of working."""

    name: str
    shell: str
    when: str = "never"
    opens: str = ""

    def expected(self) -> list[str]:
        if self.opens:
            return ["open NO_SUCH_FILE", "end reached"]
        own = ["own unchanged"] * 3 if self.when != "never" else []
        return [*RIGHT, *own, "end reached"]


PLACES = (
    Place("descriptors 0 to 2 closed, taken before MPI_Init", WITHOUT_DESCRIPTORS, "before"),
    Place("descriptors 0 to 2 closed, taken after MPI_Init", WITHOUT_DESCRIPTORS, "after"),
    Place("descriptors 0 to 2 closed, not taken", WITHOUT_DESCRIPTORS),
    Place("descriptors 0 to 2 closed by the program", 'exec "$@"', "itself"),
    Place("working directory deleted", WITHOUT_DIRECTORY),
    Place("working directory deleted, relative name", WITHOUT_DIRECTORY, opens="data"),
    Place("HOME and TMPDIR not set", WITHOUT_HOME),
    Place("HOME and TMPDIR absent", ABSENT_HOME),
)


def run_at(host: Host, one: Place, place: Path, ranks: int, layered: bool) -> tuple[Result, str]:
    """What is wrong, or nothing."""
    directory = place / ("layered" if layered else "plain")
    directory.mkdir()
    program = compile_c(host, SOURCES, "rough_place")
    words = ["sh", "-c", one.shell, "sh", program, directory, one.when]
    words += [one.opens] if one.opens else []
    result = launch(host, ranks, words, layered, SPEAKING, cwd=directory)
    for rank in range(ranks):
        report = directory / f"report.{rank}"
        lines = report.read_text().splitlines() if report.exists() else []
        carried = [line for line in lines if line.startswith("carried ")]
        lines = [line for line in lines if line not in carried]
        if lines != one.expected():
            return result, f"rank {rank}: {lines} instead of {one.expected()}"
        if not one.opens and carried != [f"carried {'engine' if layered else 'plain'}"]:
            return result, f"rank {rank}: {carried}"
    if result.code != 0 or result.litter:
        return result, f"exit code {result.code}, leaves {result.litter}"
    return result, ""


@pytest.mark.parametrize("ranks", [2, pytest.param(8, marks=pytest.mark.deep)])
@pytest.mark.parametrize("one", PLACES, ids=lambda one: one.name.replace(" ", "-"))
def test_place(host: Host, one: Place, ranks: int, place: Path, library) -> None:
    result, problem = run_at(host, one, place, ranks, layered=True)
    if problem:
        problem_plain = run_at(host, one, place, ranks, layered=False)[1]
        if problem_plain:
            pytest.skip(f"{host.name} itself: {problem_plain}")
    table.note(f"place: {one.name}", host.name, not problem)
    assert not problem, f"{problem}\n{result.explain()}"
