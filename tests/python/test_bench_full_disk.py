"""File systems that fill up under the benchmark programs, or that cannot be written: told in one
line with what helps, and no file left."""

from pathlib import Path

import pytest
from bench_support import bench_command, error_line, preloaded
from cli_support import Command
from mounting import mounted

# The programs ask how much is free before they write; here they are not told.
BLIND = r"""
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
int statvfs64(const char *, struct statvfs *);
int statvfs(const char *path, struct statvfs *status) {
  if (strncmp(path, "mount/", 6) != 0) return statvfs64(path, status);
  errno = ENOSYS;
  return -1;
}
"""

# By program: flags that need more than the file system has, and what makes it less.
LARGER = {
    "checkpoint": ("--piece 1000 --size 20000 --steps 50", "--steps, --dims or --size"),
    "ior": ("-a MPIIO -c -w -b 1m -t 64k", "-b or -s"),
    "irregular": ("--pieces 20000", "--pieces or --mean"),
    "lattice": ("--dims 16,16,8,8", "--dims"),
    # In one block: MPICH's data sieving keeps its lock where it fails, and the other rank waits.
    "overlap": ("--size 1m", "--size"),
    "strided": ("--size 4m", "--size"),
    "tile": ("--piece 1000 --size 2000000", "--dims or --size"),
}
RUNS = [
    *((name, "", option) for name in LARGER for option in ("", "--plain")),
    *(("tile", f"--way {way}", "") for way in ("posix", "rank0", "contiguous")),
    ("lattice", "--way posix", ""),
]


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


@pytest.mark.parametrize(("name", "way", "option"), RUNS)
def test_a_full_disk_is_told_and_the_file_removed(
    bench: Command, tmp_path: Path, name: str, way: str, option: str
) -> None:
    flags, advice = LARGER[name]
    variables = preloaded(BLIND, tmp_path / "lib" / "blind.so")
    with mounted("-t", "tmpfs", "-o", "size=1m", "tmpfs", at=tmp_path / "mount"):
        words = [*option.split(), "--", *flags.split(), *way.split(), "-o", "mount/f"]
        result = bench("bench", name, "-n", 2, *words, **variables)
        left = list((tmp_path / "mount").iterdir())
    assert result.returncode == 1, result.stdout + result.stderr
    line = error_line(result, name)
    assert "mount/f'" in line and f"make the test smaller with {advice}" in line
    assert not left


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("tile", "--dims 8,8"),
        ("tile", "--dims 8,8 --way posix"),
        ("ior", "-a MPIIO -w -b 4k -t 4k"),
        ("strided", "--size 1m"),
        ("overlap", "--size 4k"),
    ],
)
def test_a_directory_that_cannot_be_written_is_told(
    bench: Command, tmp_path: Path, name: str, flags: str
) -> None:
    with mounted("-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", at=tmp_path / "mount"):
        result = bench("bench", name, "-n", 2, "--", *flags.split(), "-o", "mount/f")
    assert result.returncode == 1
    line = error_line(result, name)
    assert "'mount/f' (Read-only file system), give a path in a directory you may write to" in line


def test_results_on_a_read_only_file_system_are_told_first(bench: Command, tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", at=tmp_path / "mount"):
        flags = ("-o", "f", "-k", "--json", "mount/out")
        result = bench("bench", "tile", "--plain", "--", *flags)
        assert result.returncode == 1 and not (bench.directory / "f").exists()
        assert "cannot write 'mount/out' (Read-only file system)" in error_line(result, "tile")
        result = bench("bench", "compare", "tile", "--json", "mount/out")
    assert result.returncode == 1
    assert "'mount/out' cannot be written (Read-only file system)" in result.stderr


def test_compare_blames_no_way_for_a_full_disk(bench: Command, tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "size=67m", "tmpfs", at=tmp_path / "mount"):
        flags = ("--piece", "1000", "--size", "1000000")
        line = ("compare", "tile", "--dir", "mount", "--rounds", 1, "--", *flags)
        result = bench("bench", *line)
        left = list((tmp_path / "mount").iterdir())
    assert result.returncode == 2
    assert "not enough space in 'mount/headrace-" in result.stderr
    assert "name another directory with --dir" in result.stderr and not left
