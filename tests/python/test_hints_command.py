"""`headrace hints`: the hints for a file, where they come from, and what would be chosen."""

from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import Command

CLOSED = {
    "HEADRACE_SITE": "/dev/null",
    "HEADRACE_USER": "/dev/null",
    "HEADRACE_HINTS_FILE": "/dev/null",
    "HEADRACE_QUIET": "0",
}


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    command = bench_command(tmp_path)
    command.environ.update(CLOSED)
    return command


def shown(bench: Command, *flags: object) -> str:
    done = bench("hints", *map(str, flags))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hints_are_shown_with_their_origin(bench: Command) -> None:
    bench.environ["HEADRACE_HINTS"] = "*/a.h5:cb_nodes=4:romio_ds_write=disable"
    settings = bench.directory / "s.toml"
    settings.write_text("[settings]\nwrite_path = 'direct'\n[hints.'a.*']\ncb_align = 1\n")
    text = shown(bench, "a.h5", "ind_rd_buffer_size=64k", "--settings", settings)
    for line in (
        f"hints of '{bench.directory}/a.h5' on ",
        f"  cb_align = 1 ('{settings}'"[:60],
        "  cb_nodes = 4 (HEADRACE_HINTS, pattern '*/a.h5')",
        "  headrace_write_path = direct (HEADRACE_WRITE_PATH)",
        "  ind_rd_buffer_size = 65536 (the program)",
        "writes of 8192 bytes, 100 for each of 4 ranks on 1 node: direct (",
    ):
        assert line in text, f"{line}\n{text}"
    assert not (bench.directory / "a.h5").exists()


def test_the_choice_follows_the_call(bench: Command) -> None:
    small = shown(bench, "a", "--piece", 100, "--pieces", 1000, "--cores", 8)
    assert "writes of 100 bytes, 1000 for each of 4 ranks on 1 node: staged (" in small
    large = shown(bench, "a", "--piece", 64 << 20, "--pieces", 2, "--cores", 8)
    assert "writes of 67108864 bytes, 2 for each of 4 ranks on 1 node: direct (" in large
    nodes = shown(bench, "a", "--ranks", 8, "headrace_write_path=exchanged")
    assert "for each of 8 ranks on 2 nodes: " in nodes


def test_the_stripes_of_a_shared_file_let_nodes_exchange(bench: Command) -> None:
    bench.environ["HEADRACE_MIMIC_STRIPES"] = "4x1m"
    text = shown(bench, "a", "--ranks", 8, "--piece", 1000, "--pieces", 4000)
    assert "for each of 8 ranks on 2 nodes: exchanged (" in text
    assert "of 1048576 bytes" in text


def test_bad_input_is_refused_with_what_to_do(bench: Command) -> None:
    for words in (["."], ["pvfs2:/a"], ["no/such/a"], ["a", "cb_nodes"], ["a", "--piece", "0"]):
        done = bench("hints", *words)
        assert done.returncode == 2, done.stdout
        assert "Traceback" not in done.stderr
    done = bench("hints", "a", "cb_nodes=x", "cb_nods=2")
    assert done.returncode == 0
    assert "hint cb_nodes='x' is not a whole number" in done.stderr
    assert "did you mean 'cb_nodes'?" in done.stderr
