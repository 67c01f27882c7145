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


# For which pieces the costs count, and with how many ranks they were measured.
ALL = "write = '1 to 10000000'\nread = '1 to 10000000'\n"


def profile_text(
    kind: str, costs: str, format_of_file: int = 2, choices: str = ALL, ranks: int = 2
) -> str:
    return (
        f"[profile]\nformat = {format_of_file}\n[machine]\nnode_ranks = {ranks}\nnodes = 1\n"
        f"[file_system]\nkind = '{kind}'\n[choices]\n{choices}{costs}"
    )


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


# As launchers number ranks.
ONLY_ON = (
    'test "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" = {rank} || unset HEADRACE_PROFILE; exec "$0" "$@"'
)
CLOSED = {"HEADRACE_RECORD": "0", "HEADRACE_SITE": "/dev/null", "HEADRACE_USER": "/dev/null"}


def run(
    host: Host, place: Path, ranks: int = 2, only: int | None = None, **variables: str
) -> tuple[dict[str, str], Result]:
    """Ranks write and read; the hints that are told of the file. only: the rank that gets
    HEADRACE_PROFILE."""
    program = compile_c(host, ["strided_file.c"], "strided_file")
    closed = CLOSED
    environment = {"HEADRACE_QUIET": "0", "HEADRACE_CORE_DISTANCE": "80", **closed, **variables}
    words = [program, "write+read", place / "data.bin", PIECE, PIECES]
    if only is not None:
        words = ["sh", "-c", ONLY_ON.format(rank=only), *words]
    result = launch(host, ranks, words, True, environment)
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
    assert "headrace: profile" not in result.err, result.err
    named = f"  costs: those of profile '{path}' for writes of 1 to 10000000 bytes, reads of 1 to"
    assert named in run(host, place, HEADRACE_HINTS_DISPLAY="1", **user)[1].err
    # Nothing of it counts in a job that wants none.
    hints, result = run(host, place, HEADRACE_PROFILE="none", **user)
    assert hints["headrace_write_taken"] == "staged" and "headrace: profile" not in result.err


@pytest.mark.parametrize(
    ("kind", "costs", "version", "told"),
    [
        ("", WIDE, 2, ""),
        ("lustre-of-another", WIDE, 2, "does not count for files on "),
        ("", WIDE, 1, "is ignored (it is of format 1, this version reads format 2)"),
        ("", "[write]\ncall = 'fast'\n", 2, "line 12 is ignored (it is no number"),
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


def test_a_profile_counts_where_a_gain_was_measured(host: Host, library: Path) -> None:
    place = place_of(host, "gain-profile")
    kind = run(host, place)[0]["headrace_file_system"]
    for choices, taken in (
        (f"write = '{PIECE} to {PIECE}'\n", "direct"),
        (f"write = '1 to {PIECE - 1}, {PIECE + 1} to 10000000'\n", "staged"),
        ("read = '1 to 10000000'\n", "staged"),
        ("write = 'none'\n", "staged"),
        ("", "staged"),
    ):
        text = profile_text(kind, WIDE, choices=choices)
        path = put(place / "profiles" / "p.toml", text)
        hints, result = run(host, place, HEADRACE_PROFILE=str(path))
        assert hints["headrace_write_taken"] == taken, (choices, hints)
        assert ("profile" in hints["headrace_write_reason"]) == (taken == "direct"), choices
        assert "headrace: profile" not in result.err, result.err


def test_a_profile_of_fewer_ranks_does_not_count(host: Host, library: Path) -> None:
    place = place_of(host, "small-profile")
    kind = run(host, place)[0]["headrace_file_system"]
    path = put(place / "profiles" / "p.toml", profile_text(kind, WIDE))
    hints, result = run(host, place, ranks=3, HEADRACE_PROFILE=str(path))
    assert hints["headrace_write_taken"] == "staged", hints
    assert "profile" not in hints["headrace_write_reason"]
    told = "does not count (it is of 1 node with 2 ranks each, the file has 1 node with 3 ranks"
    assert told in hints["headrace_corrections"] and result.err.count(told) == 1, result.err
    put(path, profile_text(kind, WIDE, ranks=3))
    hints, result = run(host, place, ranks=3, HEADRACE_PROFILE=str(path))
    assert hints["headrace_write_taken"] == "direct" and "headrace: profile" not in result.err


@pytest.mark.parametrize("rank", [0, 1])
def test_a_profile_that_one_rank_has_does_not_count(host: Host, library: Path, rank: int) -> None:
    place = place_of(host, "single-profile")
    kind = run(host, place)[0]["headrace_file_system"]
    path = put(place / "profiles" / "p.toml", profile_text(kind, WIDE))
    hints, result = run(host, place, only=rank, HEADRACE_PROFILE=str(path))
    assert hints["headrace_write_taken"] == "staged", hints
    told = "ranks found different profiles"
    assert told in hints["headrace_corrections"] and result.err.count(told) == 1, result.err


def opens(host: Host, place: Path, *words: object, **variables: str) -> Result:
    program = compile_c(host, ["profile_open.c"], "profile_open")
    environment = {"HEADRACE_QUIET": "0", **CLOSED, **variables}
    result = launch(host, 2, [program, place, *words], True, environment)
    assert result.code == 0, result.explain()
    return result


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_without_memory_for_a_profile(host: Host, library: Path, rank: int) -> None:
    """All ranks fail, none waits; the next open finds it."""
    place = place_of(host, "memory-profile")
    kind = run(host, place)[0]["headrace_file_system"]
    # Memory is taken as the text grows: for this one, as much as for the largest.
    text = profile_text(kind, WIDE) + "# much is said here\n" * 2000
    path = put(place / "profiles" / "p.toml", text)
    result = opens(host, place, "memory", rank, HEADRACE_PROFILE=str(path))
    lines = sorted(result.out.split("\n"))
    assert lines[-2:] == ["opened 1 failed 1 refused 0", "opened 1 failed 1 refused 1"], result.out


def test_a_profile_of_another_place_is_told_once(host: Host, library: Path) -> None:
    place = place_of(host, "many-profile")
    path = put(place / "profiles" / "p.toml", profile_text("lustre-of-another", WIDE))
    result = opens(host, place, "many", 20, HEADRACE_PROFILE=str(path))
    assert result.out.count("opened 20 failed 0") == 2, result.out
    assert result.err.count("does not count") == 1, result.err
