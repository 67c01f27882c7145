"""What other users must not be able to do: privileged programs, files' modes, planted links."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import compile_c, compile_program, launch, run, work_directory

HARNESS = ["harness.c", "harness_calls.c", "harness_data.c"]
NOBODY = 65534


@pytest.fixture
def place(request, needs_root):
    """A directory that all may enter and write to, outside of private ones."""
    folder = Path("/var/tmp") / f"mpi-security-{os.getpid()}"
    folder.mkdir(mode=0o755)
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("host", ["mpich"], indirect=True)
def test_stays_out_of_privileged_programs(host: Host, place: Path, library: Path) -> None:
    """LD_PRELOAD is dropped there by the loader; a library that is linked is not."""
    copy = Path(shutil.copy(library, place))
    link = ["-Wl,--no-as-needed", str(copy), f"-Wl,-rpath,{place}"]
    found = subprocess.run(
        [*host.compilers["c"], "-show"], capture_output=True, text=True, check=True
    ).stdout.split()
    folders = [word[2:] for word in found if word.startswith("-L")]
    link += [f"-Wl,-rpath,{Path(folder).resolve()}" for folder in folders]
    built = compile_program(host.compilers["c"], ["privileged.c"], f"privileged-{host.name}", link)
    program = Path(shutil.copy(built, place / "program"))
    said = {}
    for mode in (0o755, 0o4755):
        os.chown(program, NOBODY, NOBODY)
        program.chmod(mode)
        result = run([program, place / f"data{mode:o}"], host.environment, cwd=place)
        assert result.code == 0, result.explain()
        said[mode] = result.out.strip()
    assert said[0o755] == "ordinary layer"
    if said[0o4755].startswith("ordinary"):
        absent("setuid programs get no privileges on this file system")
    assert said[0o4755] == "privileged plain"


@pytest.mark.parametrize("host", ["mpich", "openmpi", "intel"], indirect=True)
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_get_the_mode_that_the_umask_allows(host: Host, mask: int, library: Path) -> None:
    folder = work_directory(f"umask-{host.name}")
    program = compile_c(host, ["privileged.c"], "modes")
    before = os.umask(mask)
    try:
        result = launch(host, 2, [program, folder / "data"], True)
    finally:
        os.umask(before)
    assert result.code == 0, result.explain()
    assert "plain" not in result.out
    assert stat.S_IMODE((folder / "data").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("host", ["mpich", "openmpi", "intel"], indirect=True)
@pytest.mark.parametrize("memory", ["memfd", "posix", "none"])
def test_second_user(host: Host, memory: str, library: Path, needs_root) -> None:
    """Nothing can be opened or guessed; nonsense to a listener (`none`) harms nothing."""
    program = compile_c(host, ["second_user.c", *HARNESS], "second_user")
    folder = work_directory(f"second-user-{host.name}")
    settings = {"HEADRACE_SHARED_MEMORY": memory}
    result = launch(host, 2, [program, folder], True, settings)
    assert result.code == 0, result.explain()
    assert "case second_user ok\n" in result.out, result.explain()
    assert "the other user" not in result.err, result.explain()
