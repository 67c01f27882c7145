"""For which calls a profile counts, and where it lies."""

import tomllib
from pathlib import Path

import pytest
from rich.console import Console
from tune_support import figure, figures, measured

from headrace.errors import HeadraceError
from headrace.statistics import Interval
from headrace.tune import fit, gains, output, patterns, profile, running, session
from headrace.tune.figures import to_text
from headrace.tune.patterns import PATTERNS, Choice, Pattern

SURE = Interval(2.0, 1.5, 2.5, 0.97, 6)
LEAST = Interval(1.2, 1.01, 1.4, 0.97, 6)
UNSURE = Interval(1.4, 0.99, 2.0, 0.97, 6)
FEW = Interval(2.0, 1.9, 2.1, 0.75, 3)
WRITE_64K = Pattern("write", 65_536, 64)


def choice(pattern: Pattern, gain: Interval | None, after: str = "direct") -> Choice:
    return Choice(pattern, "staged", after, "a reason", gain)


@pytest.mark.parametrize(
    ("gain", "is_proven"),
    [(SURE, True), (LEAST, True), (UNSURE, False), (FEW, False), (None, False)],
)
def test_only_a_sure_gain_counts(gain: Interval | None, is_proven: bool) -> None:
    one = choice(WRITE_64K, gain)
    assert one.is_proven == is_proven
    [note] = output.choice_notes([one], {})
    assert note.endswith("the built-in costs stay") != is_proven
    assert ("too few for 95 %" in note) == (gain is FEW)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], "none"),
        ([1000], "1000 to 3162"),
        ([65_536], "25600 to 131072"),
        ([65_536, 262_144], "25600 to 524288"),
        ([1000, 65_536], "1000 to 3162, 25600 to 131072"),
        ([4 << 20], "2097152 to 4194304"),
        (list(gains.SIZES), "1000 to 4194304"),
    ],
)
def test_pieces_count_that_are_close_to_measured_ones(sizes: list[int], expected: str) -> None:
    kept = [one for one in PATTERNS if one.direction == "read" and one.bytes in sizes]
    found = gains.ranges(kept)
    assert gains.range_text(found["read"]) == expected
    assert gains.range_text(found["write"]) == "none"


def test_the_greatest_and_the_least_gain_are_confirmed() -> None:
    of = [choice(PATTERNS[0], LEAST), choice(PATTERNS[1], SURE), choice(PATTERNS[2], UNSURE)]
    middle = choice(PATTERNS[3], Interval(1.5, 1.2, 1.7, 0.97, 6))
    assert gains.to_confirm([*of, middle]) == [of[1], of[0]]
    assert gains.to_confirm(of[:1]) == of[:1]
    assert gains.to_confirm(of[2:]) == []


@pytest.mark.parametrize(("with_profile", "counts"), [(1.0, False), (0.5, True), (2.0, False)])
def test_a_gain_that_jobs_deny_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_profile: float, counts: bool
) -> None:
    """Where jobs are not faster with the profile, the built-in costs stay."""

    def job(_way, _folder, _flags, _seconds, _environ, _tell, variables):
        time = 1e6 if variables["HEADRACE_PROFILE"] == "none" else 1e6 * with_profile
        return measured([figure("write_pattern", time, 65_536, path="direct")])

    monkeypatch.setattr(session, "measure", job)
    run = session.Session(running.Way("", 2), tmp_path, {})
    run.measured = measured()
    run.rows = fit.rows(run.measured)
    choices = [choice(WRITE_64K, SURE)]
    denied = run.confirm(Console(quiet=True), choices, 0, lambda _text: None)
    assert (not denied) == counts
    place = tmp_path / "new" / "p.toml"
    kept = run.keep(place, choices, denied)
    assert bool(kept["write"]) == counts
    text = place.read_text()
    assert tomllib.loads(text)["choices"]["write"] == ("25600 to 131072" if counts else "none")
    assert "write 64 pieces of 65,536 B: direct instead of staged, 2.00 [1.50, 2.50]" in text
    assert ("but in jobs" in text) == (not counts)


def test_a_draft_that_the_library_refuses_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "hints"
    refusal = "headrace: profile '$HEADRACE_PROFILE' is ignored (others may write to it), do"
    choices = "writes of 1 bytes, x: staged (r)", "reads of 1 bytes, x: direct (r)"
    lines = [f'echo "{refusal}" >&2', *(f'echo "{choice}"' for choice in choices)]
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)
    monkeypatch.setattr(patterns, "find_file", lambda *_: str(program))
    with pytest.raises(HeadraceError, match=r"refuses what was measured.*others may write to it"):
        patterns.choose(measured(), tmp_path, tmp_path / "draft.toml", {})


@pytest.mark.parametrize("mount", ["/mnt/\U0001f600", 'a"b\\c', "/m\nn", "/été", "/x\x7f"])
def test_any_mount_point_is_written_as_toml(mount: str) -> None:
    of = measured(mount=mount)
    text = profile.to_toml(of, fit.rows(of), "a.json", gains.ranges([]))
    assert tomllib.loads(text)["file_system"]["mount"] == mount


def test_mount_points_that_are_no_text(tmp_path: Path) -> None:
    """Those of other file systems do no harm."""
    device = tmp_path.stat().st_dev
    here = f"{device >> 8 & 0xFFF}:{device & 0xFF}".encode()
    table = tmp_path / "mountinfo"
    other = b"1 2 0:9999 / /mnt/\xe9t\xe9 rw - ext4 x rw\n"
    table.write_bytes(other + b"1 2 " + here + rb" / /a\040b rw - ext4 x rw" + b"\n")
    assert running.mount_point(tmp_path, table) == "/a b"
    table.write_bytes(other + b"1 2 " + here + b" / /mnt/\xe9t\xe9 rw - ext4 x rw\n")
    with pytest.raises(HeadraceError, match="is not UTF-8"):
        running.mount_point(tmp_path, table)


def test_each_mount_and_processor_has_a_profile_of_its_own() -> None:
    names = {
        profile.file_name(measured(mount=mount, processor=processor))
        for mount in ("/scratch/a", "/scratch-a", "/scratch_a", "/")
        for processor in ("A CPU 1", "A CPU-1", "B")
    }
    assert len(names) == 12
    assert any(name.startswith("ext4-scratch-a-a-cpu-1-") for name in names)
    long = profile.file_name(measured(mount="/x" * 2000, processor="é" * 300))
    assert len(long) < 200


@pytest.mark.parametrize(
    ("name", "there", "told"),
    [
        ("p.json", {}, "is no name for a profile"),
        ("notes.toml", {"notes.toml": "[settings]\n"}, "it is no profile"),
        ("notes", {"notes": "some text"}, "it is no profile"),
        ("package.toml", {"package.json": "{}"}, "it is no file of figures"),
    ],
)
def test_nothing_is_overwritten_but_profiles(
    tmp_path: Path, name: str, there: dict[str, str], told: str
) -> None:
    for file, text in there.items():
        (tmp_path / file).write_text(text)
    with pytest.raises(HeadraceError, match=told):
        profile.require_place(tmp_path / name)


def test_profiles_are_overwritten(tmp_path: Path) -> None:
    of = measured()
    place = tmp_path / "p.toml"
    profile.write(place, profile.to_toml(of, fit.rows(of), "p.json", gains.ranges([])))
    profile.write(profile.figures_file(place), to_text(of))
    profile.require_place(place)
    # Two names never share their figures.
    files = {profile.figures_file(tmp_path / name) for name in ("p.v1", "p.v2", "p", "p.toml")}
    assert len(files) == 3 and tmp_path / "p.json" in files


@pytest.mark.parametrize("name", ["file", "then.toml", "draft.toml", "file0"])
def test_a_draft_is_none_of_the_measured_files(tmp_path: Path, name: str) -> None:
    """Whatever the profile is called that will be kept."""
    folder = tmp_path / "measured"
    folder.mkdir()
    run = session.Session(running.Way("", 2), folder, {})
    run.measured = measured(figures())
    run.rows = fit.rows(run.measured)
    draft = run.draft()
    assert draft.parent == folder and draft.name not in ("file", session.THEN)
    run.keep(tmp_path / name, [], {})
    assert {one.name for one in folder.iterdir()} == {draft.name}
