"""Which profiles jobs use, as the command tells it; where they lie; what keeps a measurement."""

import os
import re
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import ROOT
from click.testing import CliRunner
from somebody import as_nobody
from tune_support import figure, figures, measured

from headrace import machine
from headrace.commands.tune.io import io
from headrace.errors import HeadraceError
from headrace.mpi.installed import find_all
from headrace.settings.resolver import Resolution, resolve_run
from headrace.statistics import Interval
from headrace.tune import fit, gains, output, patterns, profile, running, session, standing
from headrace.tune.checking import check
from headrace.tune.patterns import PATTERNS, Choice, Pattern

WRITE_64K = Pattern("write", 65_536, 64)
SURE = Interval(2.0, 1.5, 2.5, 0.97, 6)


def text_of(ranges: gains.Ranges = gains.EVERYWHERE, denied: tuple[Pattern, ...] = (), **of) -> str:
    made = measured(**of)
    return profile.to_toml(made, fit.rows(made), "p.json", ranges, denied=denied)


def written(path: Path, mode: int = 0o644, **of) -> Path:
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.write_text(text_of(**of))
    path.chmod(mode)
    return path


def run_of(folder: Path, **more: str) -> Resolution:
    names = {"HEADRACE_USER": "own", "HEADRACE_SITE": "site"}
    places = {name: str(folder / of / "headrace.toml") for name, of in names.items()}
    return resolve_run({**places, **more})


def session_of(folder: Path, ranks: int = 2) -> session.Session:
    run = session.Session(running.Way("", ranks), folder, {})
    run.measured = measured(figures(ranks=ranks), ranks=ranks)
    run.rows = fit.rows(run.measured)
    return run


# What is read of a profile.


def test_a_choice_that_jobs_denied_is_not_asked_for(tmp_path: Path) -> None:
    """It would be denied again."""
    of = measured()
    now = {pattern: "staged" for pattern in PATTERNS}
    then = {**now, PATTERNS[0]: "direct"}
    for denied in ((), PATTERNS[:1], PATTERNS[:3]):
        (tmp_path / "p.toml").write_text(text_of(denied=denied))
        there = profile.read_profile(tmp_path / "p.toml")
        assert there.denied == {(one.direction, one.bytes) for one in denied}
        assert check(there, of, fit.rows(of), then, now).fits == bool(denied)


def test_what_jobs_deny_is_kept(tmp_path: Path) -> None:
    choices = [Choice(WRITE_64K, "staged", "direct", "a reason", SURE)]
    session_of(tmp_path).keep(tmp_path / "p.toml", choices, {WRITE_64K: Interval(1, 0.9, 2, 1, 6)})
    there = profile.read_profile(tmp_path / "p.toml")
    assert there.denied == {("write", 65_536)} and not there.counts


HEAD = "[profile]\nformat = 2\n[machine]\nnode_ranks = 2\nnodes = 1\n[file_system]\nkind = 'a'\n"


@pytest.mark.parametrize(
    ("text", "costs"),
    [
        ("[write]\ncall = 'fast'\n", {}),
        ("[write]\ncall = '5,000 measured'\ncopy_piece = '3 measured'\n", {"write.copy_piece": 3}),
        ("[write]\ncall = 'inf'\n[read]\ncall = '1e16'\n", {}),
        ("[write]\ncall = 7\n", {"write.call": 7}),
        ("[write]\ncall = '2.5e3 mine'\ncall_byte = '1 built in'\n", {"write.call": 2500}),
        ("[write\n[[[[[\n[read]\ncall = '.5'\n", {"read.call": 0.5}),
    ],
)
def test_the_command_reads_what_the_library_reads(
    tmp_path: Path, text: str, costs: dict[str, float]
) -> None:
    """tests/unit/policy_profile_test.cc has more of it."""
    (tmp_path / "p.toml").write_text(HEAD + text)
    assert profile.read_profile(tmp_path / "p.toml").costs == costs


def test_a_format_in_quotes_is_one(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(HEAD.replace("format = 2", 'format = "2"'))
    assert profile.read_profile(tmp_path / "p.toml").node_ranks == 2


@pytest.mark.parametrize("count", ["inf", "0", "-1", "1048577", "2.0", "'x'", "1" * 5000])
def test_counts_that_are_none(tmp_path: Path, count: str) -> None:
    (tmp_path / "p.toml").write_text(HEAD.replace("node_ranks = 2", f"node_ranks = {count}"))
    with pytest.raises(HeadraceError, match="it has no counts node_ranks and nodes"):
        profile.read_profile(tmp_path / "p.toml")


def test_any_bytes_are_read(tmp_path: Path) -> None:
    """Such a file may lie among others."""
    for data in (b"[" * 99_999, b"\xff\n" + HEAD.encode() + b"mount = '\xfc'\n", b"\0" * 70_000):
        (tmp_path / "p.toml").write_bytes(data)
        try:
            assert profile.read_profile(tmp_path / "p.toml").node_ranks == 2
        except HeadraceError as error:
            assert "measure anew" in str(error)


# Which one jobs use.


def test_what_others_may_write_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point = machine.mount_point(tmp_path)
    open_file = written(tmp_path / "own" / "profiles" / "a.toml", 0o666, mount=point)
    good = written(tmp_path / "own" / "profiles" / "b.toml", mount=point)
    site = written(tmp_path / "site" / "profiles" / "s.toml", mount=point)
    site.parent.chmod(0o775)
    found = standing.candidates(tmp_path, run_of(tmp_path))
    assert [one.path for one in found] == [good]
    said = capsys.readouterr().err
    assert f"profile '{open_file}' is ignored (others may write to it)" in said
    assert f"'{site}' is ignored (others may write to its directory)" in said
    assert f"let its owner type chmod go-w {site.parent}" in said
    for path in (open_file, site):
        with pytest.raises(HeadraceError, match="is ignored"):
            standing.candidates(tmp_path, run_of(tmp_path, HEADRACE_PROFILE=str(path)))


def test_a_directory_that_others_may_write_to_is_told_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own" / "profiles").mkdir(parents=True)
    (tmp_path / "own" / "profiles").chmod(0o775)
    monkeypatch.setenv("HEADRACE_USER", str(tmp_path / "own" / "headrace.toml"))
    result = CliRunner().invoke(io, [str(tmp_path)])
    assert isinstance(result.exception, HeadraceError)
    assert "others may write to its directory" in str(result.exception)


def test_who_uses_a_profile_is_told_as_the_library_does_it(tmp_path: Path) -> None:
    own = tmp_path / "own" / "profiles"
    place = written(own / "p.toml")
    assert standing.use_of(place, run_of(tmp_path)) == "your jobs find it by the file system"
    none = run_of(tmp_path, HEADRACE_PROFILE="none")
    assert "but where HEADRACE_PROFILE=none is set" in standing.use_of(place, none)
    hidden = written(own / ".p.toml")
    assert "jobs use it where HEADRACE_PROFILE=" in standing.use_of(hidden, run_of(tmp_path))
    # Of another mount point it is none of its rivals; of the same it comes first.
    written(own / "a.toml", mount="/other")
    assert "your jobs find it" in standing.use_of(place, run_of(tmp_path))
    first = written(own / "b.toml")
    assert f"jobs use '{first}' instead" in standing.use_of(place, run_of(tmp_path))
    first.unlink()
    for number in range(standing.MOST_PROFILES):
        written(own / f"n{number:02}.toml", mount="/other")
    assert "they look at 64 files" in standing.use_of(place, run_of(tmp_path))
    place.chmod(0o666)
    assert "jobs ignore it (others may write to it)" in standing.use_of(place, run_of(tmp_path))


def test_the_one_that_counts_is_of_mount_kind_and_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "kind_of", lambda *_: "fuse")
    monkeypatch.setattr(machine, "processor_name", lambda: "ARM 0x41 0xd40")
    point = machine.mount_point(tmp_path)
    here = {"mount": point, "file_system": "fuse", "processor": "ARM 0x41 0xd40"}
    for other in (
        {"mount": "/other"},
        {"file_system": "fuse.sshfs"},
        {"file_system": "lustre"},
        {"processor": "ARM 0x41 0xd4f"},
    ):
        asked = written(tmp_path / "asked.toml", **{**here, **other})
        run = run_of(tmp_path, HEADRACE_PROFILE=str(asked))
        assert standing.used(tmp_path, run, {}) is None, other
    asked = written(tmp_path / "asked.toml", **here)
    found = standing.used(tmp_path, run_of(tmp_path, HEADRACE_PROFILE=str(asked)), {})
    assert found is not None and found.path == asked


def test_of_a_device_the_first_mount_point_counts(tmp_path: Path) -> None:
    """As in src/storage/mounts.cc, whatever name the directory has."""
    status = tmp_path.stat()
    device = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
    table = tmp_path / "mountinfo"
    lines = [f"1 2 0:9999 / {tmp_path} rw", f"1 2 {device} / /lustre rw", f"1 2 {device} /x / rw"]
    table.write_text("\n".join(lines) + "\n")
    assert machine.mount_point(tmp_path, table) == "/lustre"


def test_the_processor_is_named_as_the_library_names_it() -> None:
    arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n\nprocessor\t: 1\n"
    assert machine.processor_in(arm) == "ARM 0x41 0xd40"
    assert machine.processor_in("model name\t: A CPU\n" + arm) == "A CPU"
    assert machine.processor_in("") == ""


# Where it lies.


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_directories_are_made_for_everybody(tmp_path: Path, mask: int) -> None:
    """Also those above that of the profiles: settings lie there, too."""
    before = os.umask(mask)
    try:
        profile.write(tmp_path / "config" / "headrace" / "profiles" / "p.toml", "text")
    finally:
        os.umask(before)
    paths = [tmp_path / "config", *sorted((tmp_path / "config").rglob("*"))]
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o755, 0o755, 0o755, 0o644]


def test_names_that_are_no_text_are_refused_before(tmp_path: Path) -> None:
    with pytest.raises(HeadraceError, match="it is not UTF-8"):
        profile.require_place(tmp_path / os.fsdecode(b"\xff.toml"))


def test_home_is_what_the_library_takes_for_it(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert profile.user_directory("~/a/h.toml", home) == tmp_path / "a" / "profiles"
    assert profile.user_directory("~nosuch/h.toml", home) == Path("~nosuch/profiles")
    with pytest.raises(HeadraceError, match="HOME is not set"):
        profile.user_directory("~/h.toml", {})
    with pytest.raises(HeadraceError, match="'~nosuch/x' cannot be read"):
        standing.candidates(tmp_path, run_of(tmp_path, HEADRACE_PROFILE="~nosuch/x"))


def test_a_closed_directory_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    (closed / "profiles").mkdir(parents=True)
    closed.chmod(0o700)
    monkeypatch.setenv("HEADRACE_USER", str(closed / "headrace.toml"))
    monkeypatch.setenv("HEADRACE_SITE", str(closed / "headrace.toml"))
    environ = {"PATH": str(closed), "HEADRACE_MPI_PATH": str(closed)}
    found = find_all(environ)  # which imports what nobody may read
    with as_nobody():
        with pytest.raises(HeadraceError, match=r"cannot be written \(Permission denied\)"):
            profile.require_place(closed / "profiles" / "p.toml")
        result = CliRunner().invoke(io, [str(closed / "profiles")])
        assert "cannot be measured (Permission denied)" in str(result.exception)
        with pytest.raises(HeadraceError, match="no profile is of '/'"):
            standing.candidates(Path("/"), resolve_run(dict(os.environ)))
        assert find_all(environ) == found


# What keeps a measurement, and a profile.


@pytest.mark.parametrize(
    ("ranks", "before", "now", "is_kept"),
    [
        (64, gains.EVERYWHERE, True, True),
        (64, gains.ranges([]), True, True),
        (2, gains.EVERYWHERE, False, True),
        (2, gains.EVERYWHERE, True, False),
        (2, gains.ranges([]), False, False),
    ],
)
def test_a_better_profile_is_kept(
    tmp_path: Path, ranks: int, before: gains.Ranges, now: bool, is_kept: bool
) -> None:
    place = tmp_path / "p.toml"
    text = text_of(before, of=figures(ranks=ranks), ranks=ranks)
    place.write_text(text)
    (tmp_path / "p.json").write_text("figures")
    choices = [Choice(WRITE_64K, "staged", "direct", "a reason", SURE)] if now else []
    session_of(tmp_path).keep(place, choices, {})
    olds = {path.name: path.read_text() for path in tmp_path.glob("*.old")}
    assert olds == ({"p.toml.old": text, "p.json.old": "figures"} if is_kept else {})
    assert profile.read_profile(place).node_ranks == 2


def test_no_better_profile_takes_the_place_of_another(tmp_path: Path) -> None:
    place = tmp_path / "p.toml"
    for ranks in (64, 8):
        place.write_text(text_of(gains.EVERYWHERE, of=figures(ranks=ranks), ranks=ranks))
        session_of(tmp_path).keep(place, [], {})
    kept = [profile.read_profile(tmp_path / f"p.toml.{end}").node_ranks for end in ("old", "old2")]
    assert kept == [64, 8]


def test_what_cannot_be_written_at_the_end_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "full").write_text("no directory")
    place, _ = session_of(tmp_path).keep_somewhere(tmp_path / "full" / "p.toml", [], {})
    assert place == tmp_path / "here" / "p.toml"
    assert profile.read_profile(place).node_ranks == 2 and profile.figures_file(place).is_file()
    assert "full/p.json' cannot be written" in capsys.readouterr().err


def test_the_library_and_the_command_measure_the_same_patterns() -> None:
    source = (ROOT / "bench" / "tune" / "paths.cc").read_text()
    [text] = re.findall(r"kShapes\{\s*\{(.*?)\}\};", source, re.DOTALL)
    pairs = re.findall(r"\{([^{}]+), (\d+)\}", text)
    shapes = [(eval(size.replace("'", ""), {}), int(count)) for size, count in pairs]
    assert tuple(shapes) == patterns.SHAPES


def test_a_message_is_of_one_rank() -> None:
    of = measured([figure("message", 1e6, 1 << 20, ranks=2), figure("append", 1e6, 1 << 20)])
    rates = [row[-1] for row in output.raw_table(of).rows]
    assert rates == ["995", "995"]  # the median is 1,005 us


# Jobs that cannot be followed.


def job(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch, limit: float) -> None:
    """Measures by a shell's lines in place of a launcher's."""
    environ = bench_command(tmp_path).environ

    def launch(*_: object) -> running.Launch:
        return running.Launch(["sh", "-c", script], dict(environ))

    monkeypatch.setattr(running, "_launch", launch)
    monkeypatch.setattr(running, "PATIENCE", 1)
    monkeypatch.setattr(running, "MORE_SECONDS", 0)
    running.measure(running.Way("", 2), tmp_path, [], limit, environ, lambda *_: None)


@pytest.mark.parametrize("label", ["0: ", "[0] ", "[1,0]<stdout>: ", "[1,0]<stdout>:"])
def test_labelled_lines_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    lines = f"echo '{label}progress 1/9 append of 512 B'; exec sleep 60"
    with pytest.raises(HeadraceError, match="the launcher labels the lines"):
        job(tmp_path, lines, monkeypatch, 60)


def test_a_job_that_never_ends_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the launcher ignores that it is to end."""
    monkeypatch.setattr("headrace.bench.runner.GRACE_SECONDS", 0.2)
    lines = "trap '' TERM; echo progress 1/9 x; while :; do sleep 1; done"
    with pytest.raises(HeadraceError, match="the job did not end within 1 s"):
        job(tmp_path, lines, monkeypatch, 1)
