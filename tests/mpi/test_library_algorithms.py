"""The MPI libraries' own algorithms: what a table sets is in force, what the user sets stands, and
each algorithm that Headrace may set is right."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import absent
from hosts import AS_ROOT, REPOSITORY, YIELD, Host, host_named
from running import Result, compile_c, launch, run
from test_collectives import SOURCES

RANKS = 4
# For allreduce, another order of sums than by the library's own choice, and one for the user.
ALGORITHMS = {"mpich": ("tree", "ring"), "openmpi": ("basic_linear", ""), "intel": ("preset_7", "")}
# The same by hand, as each library's documentation has it.
BY_HAND = {
    "mpich": {
        "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "tree",
    },
    "openmpi": {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_allreduce_algorithm": "1",
    },
    "intel": {"I_MPI_ADJUST_ALLREDUCE": "7"},
}
OF_THE_USER = {
    "mpich": {
        "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "ring",
    },
    "openmpi": {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_allreduce_algorithm": "2",
    },
    "intel": {"I_MPI_ADJUST_ALLREDUCE": "8"},
}
RANGES = {"mpich": "0-0", "openmpi": "1-100000", "intel": "0-2147483647"}
NAMES = list(BY_HAND)


def present(name: str) -> Host:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    return host


def version_of(host: Host) -> str:
    shown = subprocess.run([host.launcher[0], "--version"], capture_output=True, text=True)
    return re.search(r"\d+\.\d+(\.\d+)*", shown.stdout)[0]


def table_of(host: Host, folder: Path, ranks: int = RANKS) -> Path:
    path = folder / "table.toml"
    algorithm = ALGORITHMS[host.name][0]
    path.write_text(
        f'[{host.name}.one.library.{ranks}]\nversion = "{version_of(host)}"\n'
        f'allreduce = "{algorithm} {RANGES[host.name]} 1.5"\n'
    )
    return path


def sums(host: Host, folder: Path, environment: dict[str, str], headrace: list[str] | None) -> str:
    """What the order of sums was. headrace: options of `headrace run`; None runs plainly."""
    program = compile_c(host, ["sum_order.c"], "sum_order")
    before = [] if headrace is None else [sys.executable, "-m", "headrace", "run", *headrace]
    own = {"PYTHONPATH": str(REPOSITORY / "python"), "HEADRACE_SUMMARY": "0"}
    home = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    result = run(
        [*before, *host.launch_line(RANKS), program],
        host.environment | YIELD | AS_ROOT | own | home | environment,
    )
    return found(result)


def found(result: Result) -> str:
    match = re.search(r"^sums (\w+)$", result.out, re.MULTILINE)
    assert result.code == 0 and match, result.explain()
    return match[1]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_table_has_is_in_force(name: str, tmp_path: Path, library: Path) -> None:
    host = present(name)
    table = {"HEADRACE_COLL_TABLE": str(table_of(host, tmp_path))}
    own = sums(host, tmp_path, {}, None)
    by_hand = sums(host, tmp_path, BY_HAND[name], None)
    assert own != by_hand, "the test cannot tell the algorithms apart"
    assert sums(host, tmp_path, table, []) == by_hand
    assert sums(host, tmp_path, table | {"HEADRACE_COLL_LIBRARY": "0"}, []) == own
    # Of other numbers of ranks nothing is known.
    other = {"HEADRACE_COLL_TABLE": str(table_of(host, tmp_path, RANKS + 1))}
    assert sums(host, tmp_path, other, []) == own


@pytest.mark.parametrize("name", NAMES)
def test_what_the_user_sets_stands(name: str, tmp_path: Path, library: Path) -> None:
    host = present(name)
    table = {"HEADRACE_COLL_TABLE": str(table_of(host, tmp_path))}
    by_user = sums(host, tmp_path, OF_THE_USER[name], None)
    assert by_user != sums(host, tmp_path, BY_HAND[name], None)
    assert sums(host, tmp_path, OF_THE_USER[name] | table, []) == by_user


def test_the_record_has_what_was_set(tmp_path: Path, library: Path) -> None:
    host = present("mpich")
    table = {"HEADRACE_COLL_TABLE": str(table_of(host, tmp_path))}
    own = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(tmp_path)}
    sums(host, tmp_path, table | own, [])
    (record,) = tmp_path.glob("*.hrc")
    shown = run(
        [sys.executable, "-m", "headrace", "report", record],
        {"PYTHONPATH": str(REPOSITORY / "python"), "COLUMNS": "200"},
    )
    line = "HEADRACE_COLL_LIBRARY_SET +allreduce by tree for all sizes, 1.5 times as fast"
    assert re.search(line, shown.out), shown.explain()
    assert re.search("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM +tree", shown.out), shown.explain()


def settings() -> list[tuple[str, dict[str, str], str]]:
    """Each algorithm of the specification, one of each operation at a time: library, variables, and
    for Open MPI's rules the file's text. Written here by the libraries' own documentation."""
    spec = tomllib.loads((REPOSITORY / "spec" / "library_algorithms.toml").read_text())
    made = []
    for library in spec["library"]:
        knobs = [one for one in spec["knob"] if one["library"] == library["name"]]
        values = [
            list(one.get("algorithms", {}).values())
            or sorted({*range(1, one.get("presets", 0) + 1)} - {*one.get("without", [])})
            for one in knobs
        ]
        for number in range(max(map(len, values))):
            variables, rules = {}, []
            for knob, of_it in zip(knobs, values, strict=True):
                if number >= len(of_it):
                    continue
                if "rule" in knob:
                    rules.append(f"{knob['rule']} 1 0 1 0 {of_it[number]} 0 0")
                else:
                    variables |= {knob["variable"]: str(of_it[number]), **knob.get("also", {})}
            text = "\n".join([str(len(rules)), *rules]) + "\n" if rules else ""
            made.append((library["name"], variables, text))
    return made


@pytest.mark.deep
@pytest.mark.parametrize(("name", "variables", "rules"), settings())
@pytest.mark.parametrize(("ranks", "rounds"), [(2, 150), (3, 100), (5, 60)])
def test_each_algorithm_is_right(
    name: str, variables: dict[str, str], rules: str, ranks: int, rounds: int, tmp_path: Path
) -> None:
    """Random calls, of any operation, order, type and place, against plain loops: without Headrace,
    by one algorithm of the library's for each operation. MPI_Reduce has a program of its own."""
    host = present(name)
    if rules:
        file = tmp_path / "rules"
        file.write_text(rules)
        variables = {
            **variables,
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(file),
        }
    drawn = [compile_c(host, SOURCES, "collectives"), 40 + ranks, rounds, 3000]
    reduced = [compile_c(host, ["reduce_checked.c"], "reduce_checked")]
    for line in (drawn, reduced):
        result = launch(host, ranks, line, layered=False, environment=variables)
        right = len(re.findall(r"^rank \d+: 0 of \d+ calls wrong$", result.out, re.MULTILINE))
        assert result.code == 0 and right == ranks, result.explain()
