"""A profile of a file system: it is found, it changes a choice, and the reason names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch, work_directory

PIECE, PIECES = 100_000, 20
# Requests that take long are worth gathering; the built-in costs have pieces of this size go alone.
SLOW = "[read]\ncall = '200000 measured'\nwindow_call = '200000 measured'\n"
# Writers that do not hinder each other gain nothing by one that writes for all.
WIDE = "[common]\nlarge_piece_to_write = '4096 measured'\n"


def profile_text(kind: str, costs: str, format_of_file: int = 1) -> str:
    return f"[profile]\nformat = {format_of_file}\n[file_system]\nkind = '{kind}'\n{costs}"


def place_of(host: Host, name: str) -> Path:
    place = work_directory(f"{name}-{host.name}")
    place.chmod(0o755)
    (place / "profiles").mkdir()
    (place / "profiles").chmod(0o755)
    return place


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o644)
    return path


def run(host: Host, place: Path, **variables: str) -> tuple[dict[str, str], Result]:
    """Two ranks write and read; the hints that are told of the file."""
    program = compile_c(host, ["strided_file.c"], "strided_file")
    closed = {"HEADRACE_SITE": "/dev/null", "HEADRACE_USER": "/dev/null"}
    environment = {"HEADRACE_QUIET": "0", "HEADRACE_CORE_DISTANCE": "80", **closed, **variables}
    words = [program, "write+read", place / "data.bin", PIECE, PIECES]
    result = launch(host, 2, words, True, environment)
    assert result.code == 0 and "wrong 0" in result.out, result.explain()
    lines = [line.split(" ", 2) for line in result.out.splitlines()]
    return {line[1]: line[2] for line in lines if line[0] == "hint" and len(line) == 3}, result


def test_the_users_profile_changes_a_choice_and_its_reason(host: Host, library: Path) -> None:
    place = place_of(host, "profile")
    hints, _ = run(host, place)
    kind = hints["headrace_file_system"]
    assert hints["headrace_write_taken"] == "staged", hints
    assert "profile" not in hints["headrace_write_reason"]
    path = put(place / "profiles" / "a.toml", profile_text(kind, WIDE))
    user = {"HEADRACE_USER": str(put(place / "headrace.toml", ""))}
    hints, result = run(host, place, **user)
    assert hints["headrace_write_taken"] == "direct", hints
    assert hints["headrace_write_reason"].endswith(f"; costs are those of profile '{path}'")
    assert "profile" not in result.err, result.err
    # Nothing of it counts in a job that wants none.
    hints, result = run(host, place, HEADRACE_PROFILE="none", **user)
    assert hints["headrace_write_taken"] == "staged" and "profile" not in result.err


@pytest.mark.parametrize(
    ("kind", "costs", "version", "told"),
    [
        ("", WIDE, 1, ""),
        ("lustre-of-another", WIDE, 1, "does not count for '"),
        ("", WIDE, 2, "is ignored (it is of format 2, this version reads format 1)"),
        ("", "[write]\ncall = 'fast'\n", 1, "line 6 is ignored (it is no number"),
    ],
)
def test_a_profile_of_a_job(
    host: Host, library: Path, kind: str, costs: str, version: int, told: str
) -> None:
    place = place_of(host, "job-profile")
    before, _ = run(host, place)
    kind = kind or before["headrace_file_system"]
    path = put(place / "profiles" / "p.toml", profile_text(kind, costs, version))
    hints, result = run(host, place, HEADRACE_PROFILE=str(path))
    changes = not told
    assert hints["headrace_write_taken"] == ("direct" if changes else "staged"), hints
    assert result.err.count("headrace: profile '") == (0 if changes else 1), result.err
    assert told in result.err


def test_a_profile_that_others_may_write_is_told_and_ignored(host: Host, library: Path) -> None:
    place = place_of(host, "foreign-profile")
    hints, _ = run(host, place)
    path = put(place / "profiles" / "p.toml", profile_text(hints["headrace_file_system"], WIDE))
    path.chmod(0o666)
    hints, result = run(host, place, HEADRACE_PROFILE=str(path))
    assert hints["headrace_write_taken"] == "staged"
    assert result.err.count("is ignored (others may write to it)") == 1, result.err
    hints, result = run(host, place, HEADRACE_PROFILE=str(path), HEADRACE_DISABLE="1")
    assert "profile" not in result.err and "headrace_write_taken" not in hints
