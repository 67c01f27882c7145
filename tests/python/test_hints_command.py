"""`headrace hints`: the hints for a file, where they come from, and what would be chosen."""

import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import Command
from mounting import mounted

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


def test_a_block_is_a_collective_buffer(bench: Command) -> None:
    text = shown(bench, "a", "cb_block_size=128k", "--piece", 100, "--pieces", 1000)
    assert "  cb_buffer_size = 131072 (the program)\n" in text, text
    assert " of 131072 bytes\n" in text[text.index("collective buffers of a node: ") :], text
    text = shown(bench, "a", "cb_block_size=128k", "cb_buffer_size=64k")
    assert "  cb_buffer_size = 65536 (the program)\n" in text, text


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


def test_facts_of_a_site_count_for_its_files(bench: Command) -> None:
    """What is said of a file system replaces what is found, be it in a variable or in a file."""
    facts = "*:stripe_size=1m:stripe_count=4:coherent=true"
    words = ("a", "--ranks", 8, "--piece", 1000, "--pieces", 4000)
    plain = shown(bench, *words)
    assert "exchanged (" not in plain and "striping_unit" not in plain, plain
    site = bench.directory / "site.toml"
    site.write_text(f"[settings]\nfs_facts = '{facts}'\n")
    for given in ({"HEADRACE_FS_FACTS": facts}, {"HEADRACE_SITE": str(site)}):
        bench.environ.pop("HEADRACE_FS_FACTS", None)
        bench.environ.update({**CLOSED, **given})
        text = shown(bench, *words)
        assert "  striping_factor = 4 (the file system)\n" in text, text
        assert "  striping_unit = 1048576 (the file system)\n" in text, text
        assert "for each of 8 ranks on 2 nodes: exchanged (" in text, text
        assert "  nodes: they may move data for each other" in text, text


def test_the_fact_that_is_proposed_lets_nodes_exchange(bench: Command) -> None:
    """By the mount point, so that other mounts of the kind stay as they are."""
    words = ("a", "--ranks", 8)
    bench.environ["HEADRACE_FS_FACTS"] = "*:kind=ext4"
    assert "  nodes: each moves its own data (ext4 is local to a node)\n" in shown(bench, *words)
    bench.environ["HEADRACE_FS_FACTS"] = "*:kind=nfs"
    told = r"  nodes: (.*), if they do set HEADRACE_FS_FACTS=(\S+)\n"
    [(why, fact)] = re.findall(told, shown(bench, *words))
    assert why.startswith("each moves its own data (on this file system, nfs, others might not")
    pattern = fact.removesuffix(":coherent=true")
    assert fnmatch(str(bench.directory), f"{pattern}*") and "nfs" not in pattern, fact
    bench.environ["HEADRACE_FS_FACTS"] = f"{fact}:kind=nfs"
    assert "  nodes: they may move data for each other" in shown(bench, *words)


def test_the_costs_that_count_are_named(bench: Command) -> None:
    text = shown(bench, "a")
    assert "  costs: built in\n" in text
    profile = bench.directory / "p.toml"
    kind = re.search(r"' on (\w+):", text)[1]
    profile.write_text(
        "[profile]\nformat = 2\n[machine]\nnode_ranks = 4\nnodes = 1\n"
        f"[file_system]\nkind = '{kind}'\n[choices]\nwrite = '1 to 9000'\n"
    )
    bench.environ["HEADRACE_PROFILE"] = str(profile)
    named = f"  costs: those of profile '{profile}' for writes of 1 to 9000 bytes, else built in\n"
    assert named in shown(bench, "a")
    assert "  costs: built in\n" in shown(bench, "a", "--ranks", 8), "it is of one node"


def test_bad_input_is_refused_with_what_to_do(bench: Command) -> None:
    for words in (["."], ["pvfs2:/a"], ["no/such/a"], ["a", "cb_nodes"], ["a", "--piece", "0"]):
        done = bench("hints", *words)
        assert done.returncode == 2, done.stdout
        assert "Traceback" not in done.stderr
    done = bench("hints", "a", "cb_nodes=x", "cb_nods=2")
    assert done.returncode == 0
    assert "hint cb_nodes='x' is not a whole number" in done.stderr
    assert "did you mean 'cb_nodes'?" in done.stderr


def mount_words(kind: str, place: Path) -> list[object]:
    """What mount(8) needs for a new file system."""
    if kind == "tmpfs":
        return ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]
    if kind == "overlay":
        layers = {name: place / name for name in ("lowerdir", "upperdir", "workdir")}
        for layer in layers.values():
            layer.mkdir()
        options = ",".join(f"{name}={layer}" for name, layer in layers.items())
        return ["-t", "overlay", "-o", options, "overlay"]
    maker = shutil.which(f"mkfs.{kind}")
    if maker is None:
        pytest.skip(f"mkfs.{kind} is not installed")
    image = place / "image"
    with image.open("wb") as file:
        file.truncate(512 << 20)
    subprocess.run([maker, "-q", image], check=True)
    return ["-o", "loop", image]


@pytest.mark.parametrize("kind", ["tmpfs", "overlay", "ext4", "xfs", "btrfs"])
def test_real_mounts_are_recognised(bench: Command, kind: str) -> None:
    place = bench.directory / "mount"
    with mounted(*mount_words(kind, bench.directory), at=place):
        assert f"hints of '{place}/a' on {kind}:" in shown(bench, place / "a")
