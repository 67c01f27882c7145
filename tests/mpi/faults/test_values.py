"""Every variable of the layer and every hint with values that make no sense: none crashes or hangs
a job, what is written is right, and each wrong value is named once, with what to do."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest
from hosts import REPOSITORY, Host
from running import Result, compile_c, launch

from faults import table

SOURCES = ["rough_values.c", "harness.c", "harness_calls.c", "harness_data.c"]
KINDS = ("empty", "negative", "zero", "huge", "largest", "binary", "long", "digits")
USUAL = [
    pytest.param(kind, marks=pytest.mark.deep if kind in ("zero", "huge", "digits") else ())
    for kind in KINDS
]
LONGEST_LINE = 1000
# What a line says is to be done.
ADVICE = re.compile(r"\(write .+\)|is out of range \(.+ to .+\)|write for example|, write ")


def spec(pattern: str, entries: str) -> list[dict]:
    """What has several names is there for each."""
    files = sorted((REPOSITORY / "spec").glob(pattern))
    every = [one for file in files for one in tomllib.loads(file.read_text())[entries]]
    return [{**one, "name": name} for one in every for name in one.get("names", [one.get("name")])]


SETTINGS = [one for one in spec("settings/*.toml", "setting") if "member" in one]
HINTS = spec("hints*.toml", "hint")
NUMBERS = ("size", "integer")


def is_wrong(one: dict, kind: str) -> bool | None:
    """Whether a value of this kind must be named; None: it may be."""
    if kind == "empty" and one["name"].startswith("HEADRACE_"):
        return False  # as if it were not set
    if one["type"] in ("text", "names", "hosts"):
        return None
    if one["type"] in ("boolean", "automatic"):
        return kind != "zero"
    if one["type"] == "choice":
        return not (kind == "zero" and "0" in one["values"])
    if one["type"] in NUMBERS and kind in ("zero", "largest"):
        return None
    return True


def check_lines(result: Result) -> str:
    lines = [line for line in result.err.splitlines() if line.startswith("headrace: ")]
    for line in lines:
        if len(line) > LONGEST_LINE or not line.isprintable():
            return f"a line that cannot be read: {line[:LONGEST_LINE]!r}"
    twice = [line for line in lines if lines.count(line) > 1 and "='" in line]
    return f"told more than once: {twice[0]}" if twice else ""


def check_named(result: Result, start: str, one: dict, kind: str) -> str:
    told = [line for line in result.err.splitlines() if line.startswith(f"headrace: {start}='")]
    wrong = is_wrong(one, kind)
    if wrong is not None and len(told) != wrong:
        return f"{start} {kind}: told {len(told)} times"
    if any(not ADVICE.search(line) for line in told):
        return f"{start} {kind}: does not say what to do: {told[0]}"
    return ""


def run_values(host: Host, place: Path, ranks: int, words: list[str], **variables: str) -> Result:
    program = compile_c(host, SOURCES, "rough_values")
    # Records go to this directory where they cannot go where a variable says.
    environment = {"HEADRACE_QUIET": "0", "TMPDIR": str(place), **variables}
    return launch(host, ranks, [program, place, *words], True, environment, cwd=place)


def judge(result: Result) -> str:
    if result.code != 0 or result.litter:
        return f"exit code {result.code}, leaves {result.litter}"
    wrong = [line for line in result.out.splitlines() if not line.endswith((" right", " refused"))]
    if wrong or not result.out:
        return f"not right: {wrong}"
    return check_lines(result)


def check_variables(host: Host, place: Path, kind: str, ranks: int, settings: list[dict]) -> None:
    names = [one["name"] for one in settings]
    result = run_values(host, place, ranks, ["variables", kind, *names])
    problems = [judge(result)]
    # One that is right may switch the lines off.
    may_be_silent = kind == "zero" or settings[0]["name"] == "HEADRACE_QUIET"
    if kind != "empty" and not (may_be_silent and len(settings) == 1):
        problems += [check_named(result, one["name"], one, kind) for one in settings]
    problems = [problem for problem in problems if problem]
    table.note(f"variables: {kind}", host.name, not problems)
    assert not problems, "\n".join([*problems, result.explain()])


@pytest.mark.parametrize("kind", USUAL)
def test_all_variables(host: Host, kind: str, place: Path, library) -> None:
    check_variables(host, place, kind, 2, SETTINGS)


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("one", SETTINGS, ids=lambda one: one["name"])
def test_variable(host: Host, one: dict, kind: str, place: Path, library) -> None:
    check_variables(host, place, kind, 4, [one])


# As if each rank were on a node of its own, and its file system a parallel one.
SEVERAL_NODES = {
    "HEADRACE_SHARED_MEMORY": "none",
    "HEADRACE_COHERENT_FS": "ext4,xfs,btrfs,tmpfs,overlayfs",
    "HEADRACE_MIMIC_STRIPES": "3x64k",
}


@pytest.mark.parametrize(
    ("ranks", "settings"),
    [
        pytest.param(2, {}, id="2"),
        pytest.param(3, SEVERAL_NODES, id="3-nodes", marks=pytest.mark.deep),
        pytest.param(8, {}, id="8", marks=pytest.mark.deep),
        pytest.param(8, SEVERAL_NODES, id="8-nodes", marks=pytest.mark.deep),
    ],
)
@pytest.mark.parametrize("kind", USUAL)
def test_hints(host: Host, kind: str, ranks: int, settings: dict, place: Path, library) -> None:
    names = [one["name"] for one in HINTS]
    result = run_values(host, place, ranks, ["hints", kind, *names], **settings)
    refused = {line.split()[0] for line in result.out.splitlines() if line.endswith(" refused")}
    problems = [judge(result)]
    problems += [
        check_named(result, f"hint {one['name']}", one, kind)
        for one in HINTS
        if one["name"] not in refused
    ]
    problems = [problem for problem in problems if problem]
    table.note(f"hints: {kind}", host.name, not problems)
    assert not problems, "\n".join([*problems, result.explain()])


MEGABYTE = 1 << 20
HINT_FILES = {
    "binary": bytes(range(1, 256)) * 10,
    "zeros": bytes(1000),
    "a long line": b"cb_nodes " + b"9" * MEGABYTE,
    "a long name": b"x" * MEGABYTE + b" 1\n",
    "many lines": b"no_hint\n" * (MEGABYTE // 8),
    "a directory": None,
    "a pipe": None,
    "absent": None,
}
USUAL_FILES = ("binary", "a long line", "a pipe")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in USUAL_FILES else pytest.mark.deep)
        for kind in HINT_FILES
    ],
)
def test_hint_file(host: Host, kind: str, place: Path, library) -> None:
    path = place / "hints"
    if kind == "a directory":
        path.mkdir()
    elif kind == "a pipe":
        os.mkfifo(path)
    elif (content := HINT_FILES[kind]) is not None:
        path.write_bytes(content)
    words = ["variables", "empty", "HEADRACE_NO_SUCH"]
    result = run_values(host, place, 2, words, HEADRACE_HINTS_FILE=str(path))
    problem = judge(result)
    table.note(f"file of hints: {kind}", host.name, not problem)
    assert not problem, f"{problem}\n{result.explain()}"
