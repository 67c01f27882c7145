"""Hints by file name, the order in which places count, and what is shown of them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hosts import REPOSITORY, Host
from running import Result, compile_c, launch, work_directory
from running import run as run_program

SIZE = "ind_rd_buffer_size"


def run(host: Host, place: Path, *hints: str, ranks: int = 1, **variables: str) -> Result:
    """Opens and writes the file `data.bin` with hints of the program."""
    program = compile_c(host, ["strided_file.c"], "strided_file")
    words = [program, "write", place / "data.bin", 100, 10, *hints]
    # The files of this machine's site and user have no part in it.
    closed = {"HEADRACE_SITE": "/dev/null", "HEADRACE_USER": "/dev/null"}
    environment = {"HEADRACE_QUIET": "0", "ROMIO_HINTS": "/dev/null", **closed, **variables}
    result = launch(host, ranks, words, True, environment)
    assert result.code == 0, result.explain()
    return result


def in_use(result: Result) -> dict[str, str]:
    lines = [line.split(" ", 2) for line in result.out.splitlines()]
    return {line[1]: line[2] for line in lines if line[0] == "hint" and len(line) == 3}


def place_of(host: Host, name: str) -> Path:
    place = work_directory(f"{name}-{host.name}")
    place.chmod(0o755)
    return place


@pytest.mark.parametrize("variable", ["HEADRACE_HINTS", "MPICH_MPIIO_HINTS"])
def test_the_first_pattern_that_matches_counts(host: Host, library: Path, variable: str) -> None:
    place = place_of(host, "hints-by-name")
    text = f"*.h5:{SIZE}=1m,{place}/d[a-c]t?.bin:{SIZE}=65536:cb_align=1,*:{SIZE}=2m:cb_align=0"
    result = run(host, place, **{variable: text})
    hints = in_use(result)
    assert (hints[SIZE], hints["cb_align"]) == ("65536", "1"), result.explain()
    # Named once: what no file matches, and what only a later pattern would have given.
    assert result.err.count("pattern '*.h5' and 1 more changed nothing on rank 0") == 1, result.err


def test_each_place_counts_over_those_before_it(host: Host, library: Path) -> None:
    place = place_of(host, "hints-order")
    sizes = {name: str(4096 * (i + 2)) for i, name in enumerate("abcdefg")}
    site, user, file = place / "site.toml", place / "user.toml", place / "hints.toml"
    form = '[hints]\n{} = 4096\n[hints."*.bin"]\n{} = {}\n'
    site.write_text(f"[settings]\nwrite_path = 'staged'\n{form.format(SIZE, SIZE, sizes['a'])}")
    user.write_text(form.format(SIZE, SIZE, sizes["b"]))
    file.write_text(form.format(SIZE, SIZE, sizes["c"]))
    given: dict[str, str] = {}

    def size(*hints: str) -> str:
        return in_use(run(host, place, *hints, **given))[SIZE]

    for name, variable, value in (
        ("a", "HEADRACE_SITE", str(site)),
        ("b", "HEADRACE_USER", str(user)),
        ("c", "HEADRACE_HINTS_FILE", str(file)),
        ("d", "HEADRACE_HINTS", f"*.bin:{SIZE}={sizes['d']}"),
    ):
        given[variable] = value
        assert size() == sizes[name], variable
    assert size(f"{SIZE}={sizes['e']}") == sizes["e"]
    given["HEADRACE_HINTS_OVERRIDE"] = "1"
    assert size(f"{SIZE}={sizes['e']}") == sizes["d"]
    assert in_use(run(host, place, **given))["headrace_write_path"] == "staged"


def test_what_is_in_force_is_shown_with_its_origin(host: Host, library: Path) -> None:
    place = place_of(host, "hints-display")
    site = place / "site.toml"
    site.write_text("[settings]\nbuffer_size = '128k'\n[hints]\nromio_ds_write = 'disable'\n")
    result = run(
        host,
        place,
        "cb_align=1",
        ranks=2,
        HEADRACE_SITE=str(site),
        HEADRACE_HINTS="*:cb_nodes=5",
        HEADRACE_HINTS_DISPLAY="1",
        OMPI_MCA_fs_lustre_stripe_size="65536",
        I_MPI_EXTRA_FILESYSTEM="on",
    )
    err = result.err
    assert err.count(f"headrace: hints of '{place}/data.bin' on ") == 1, err
    for line in (
        "  cb_align = 1 (the program)",
        f"  cb_buffer_size = 131072 (HEADRACE_BUFFER_SIZE of the site's '{site}'",
        "  cb_nodes = 2 (HEADRACE_HINTS, pattern '*'; asked for 5, but there are no more ranks)",
        "  headrace_write_path = automatic (default)",
        f"  romio_ds_write = disable (the site's '{site}'; no effect, since bytes of others",
        "  striping_unit = 65536 (OMPI_MCA_fs_lustre_stripe_size; for collective buffers only",
        "  I_MPI_EXTRA_FILESYSTEM has no effect (",
        "  corrected: cb_nodes=5 counts as 2 (there are no more ranks)",
    ):
        assert line[:100] in err, f"{line}\n{err}"


SHOWN = {
    "usual": ({}, []),
    "hints": ({"HEADRACE_HINTS": "*.bin:cb_nodes=8:striping_unit=1m:cb_buffer_size=64k,*:a=b"}, []),
    "program": ({"IOBUF_PARAMS": "*:count=2:size=64k"}, ["cb_buffer_size=3k", "striping_factor=4"]),
    "stripes": ({"HEADRACE_MIMIC_STRIPES": "4x1m"}, ["access_style=read_once", "cb_align=1"]),
    "cray": ({"MPICH_MPIIO_HINTS": "*:cb_nodes=1", "MPICH_MPIIO_X": "1"}, ["cb_nodes=2"]),
    "both": ({"MPICH_MPIIO_HINTS": "*:cb_nodes=1", "HEADRACE_HINTS": "*:cb_align=1"}, []),
}


@pytest.mark.parametrize("case", SHOWN)
def test_the_command_shows_what_a_program_shows(host: Host, library: Path, case: str) -> None:
    given, hints = SHOWN[case]
    place = place_of(host, f"hints-shown-{case}")
    program = compile_c(host, ["own_files.c"], "own_files")
    name = f"ufs:{place}/data.bin" if not host.family.startswith("openmpi") else place / "data.bin"
    closed = {"HEADRACE_SITE": "/dev/null", "HEADRACE_USER": "/dev/null", "HEADRACE_QUIET": "0"}
    given = {**given, **closed, "ROMIO_HINTS": "/dev/null"}
    shown = {**given, "HEADRACE_HINTS_DISPLAY": "1"}
    result = launch(host, 2, [program, name, "together", *hints], True, shown)
    assert result.code == 0, result.explain()
    command = [sys.executable, "-m", "headrace", "hints", name, "--ranks", 2, "--ranks-per-node", 2]
    done = run_program(
        [str(word) for word in [*command, *hints]],
        {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), **given},
    )
    assert done.code == 0, done.explain()
    ours = done.out[: done.out.index("writes of ")]
    theirs = result.err.replace("headrace: ", "")
    begin = min(theirs.find(word) % len(theirs) for word in ("hints of ", "buffers of "))
    lines = theirs[begin:].splitlines()
    end = next((i for i, one in enumerate(lines) if not is_shown(one)), len(lines))
    assert lines[:end] == ours.splitlines(), result.explain()


def is_shown(line: str) -> bool:
    return line.startswith(("  ", "hints of ", "buffers of "))


def test_what_romio_prints_is_of_the_program_s_file(host: Host, library: Path) -> None:
    place = place_of(host, "hints-romio-prints")
    result = run(host, place, "cb_nodes=2", ranks=2, ROMIO_PRINT_HINTS="1")
    assert result.err.count(f"headrace: hints of '{place}/data.bin' on ") == 1, result.explain()
    assert "  cb_nodes = 2 (the program)" in result.err, result.explain()
    assert "key = cb_nodes" not in result.out + result.err, result.explain()


def test_cray_s_variable_counts_over_the_program(host: Host, library: Path) -> None:
    place = place_of(host, "hints-cray")
    program, hints = [f"{SIZE}=65536"], f"*:{SIZE}=131072"
    for given, expected in (
        ({"HEADRACE_HINTS": hints}, "65536"),
        ({"MPICH_MPIIO_HINTS": hints}, "131072"),
        ({"MPICH_MPIIO_HINTS": hints, "HEADRACE_HINTS_OVERRIDE": "0"}, "65536"),
        ({"HEADRACE_HINTS": hints, "HEADRACE_HINTS_OVERRIDE": "1"}, "131072"),
    ):
        found = in_use(run(host, place, *program, **given))[SIZE]
        assert found == expected, given


def test_both_variables_count_each_at_its_place(host: Host, library: Path) -> None:
    """As where a site's module sets one and a user's script the other."""
    place = place_of(host, "hints-both")
    site = f"*:{SIZE}=65536:ind_wr_buffer_size=65536:cb_align=1"
    given = {"HEADRACE_HINTS": site, "MPICH_MPIIO_HINTS": f"*.bin:{SIZE}=131072"}
    hints = in_use(run(host, place, f"{SIZE}=262144", "cb_align=0", **given))
    found = (hints[SIZE], hints["ind_wr_buffer_size"], hints["cb_align"])
    assert found == ("131072", "65536", "0"), hints


def test_the_file_of_a_run_counts_over_the_user_s_hints_file(host: Host, library: Path) -> None:
    place = place_of(host, "hints-run")
    (place / "user").write_text(f"{SIZE} 65536\nind_wr_buffer_size 65536\n")
    (place / "run.toml").write_text(f"[hints]\n{SIZE} = 131072\n")
    files = {"HEADRACE_HINTS_FILE": str(place / "user")}
    hints = in_use(run(host, place, **files, HEADRACE_RUN_HINTS=str(place / "run.toml")))
    assert (hints[SIZE], hints["ind_wr_buffer_size"]) == ("131072", "65536")


def test_memory_kinds_are_returned_as_the_library_does(host: Host, library: Path) -> None:
    place = place_of(host, "hints-kinds")
    program = compile_c(host, ["strided_file.c"], "strided_file")
    words = [program, "write", place / "data.bin", 100, 10]
    kinds = []
    for layered in (False, True):
        result = launch(host, 1, words, layered, {"ROMIO_HINTS": "/dev/null"})
        assert result.code == 0, result.explain()
        kinds.append(in_use(result).get("mpi_memory_alloc_kinds"))
    # Where the library's files have none its communicators may.
    assert kinds[0] is None or kinds[0] == kinds[1]
    assert host.name != "mpich" or kinds[0], "MPICH 5 returns them"


def takes_direct_io(place: Path) -> bool:
    try:
        os.close(os.open(place / "probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("path", ["direct", "staged"])
def test_direct_io_passes_the_page_cache(host: Host, library: Path, path: str) -> None:
    """Each rank's pieces are small, so only collective buffers are whole pages."""
    place = place_of(host, f"hints-direct-{path}")
    program = compile_c(host, ["strided_file.c"], "strided_file")
    passes = "calls on '{}': whole pages bypassed the page cache, as direct_io asks"
    for hint in ("", "direct_io=true"):
        name = place / f"data{len(hint)}.bin"
        words = [program, "write+read", name, 1000, 3001, f"headrace_write_path={path}"]
        words += [hint] if hint else []
        given = {"HEADRACE_QUIET": "0", "HEADRACE_SUMMARY": "1", "ROMIO_HINTS": "/dev/null"}
        result = launch(host, 2, words, True, given)
        assert result.code == 0 and "wrong 0" in result.out, result.explain()
        is_expected = bool(hint) and path == "staged" and takes_direct_io(place)
        assert (passes.format(name) in result.err) == is_expected, result.explain()
        if hint:
            assert in_use(result)["direct_io"] == "true", result.explain()


def test_direct_io_that_is_refused_is_told(host: Host, library: Path) -> None:
    """As on tmpfs of kernels before 6.6: a line, and all is as without it."""
    program = compile_c(host, ["strided_file.c"], "strided_file")
    place = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        words = [program, "write+read", place / "data", 1000, 3001, "direct_io=true"]
        result = launch(host, 2, words, True, {"HEADRACE_QUIET": "0"})
        assert result.code == 0 and "wrong 0" in result.out, result.explain()
        told = result.err.count("direct_io has no effect on ")
        assert told == (0 if takes_direct_io(place) else 1), result.explain()
    finally:
        shutil.rmtree(place)


def test_malformed_hints_are_named_and_the_rest_counts(host: Host, library: Path) -> None:
    place = place_of(host, "hints-malformed")
    text = f"*:{SIZE}=65536,romio_ds_write=disable,x,*:cb_align=7:cb_nodes=1"
    result = run(host, place, HEADRACE_HINTS=text)
    hints = in_use(result)
    assert (hints[SIZE], hints["cb_nodes"], hints["cb_align"]) == ("65536", "1", "2")
    for part in (
        "HEADRACE_HINTS: 'romio_ds_write=disable' at character 28 is ignored (",
        "HEADRACE_HINTS: 'x' at character 51 is ignored (no hints follow it)",
        "HEADRACE_HINTS, pattern '*': hint cb_align='7' is not known",
    ):
        assert result.err.count(part) == 1, f"{part}\n{result.err}"


def test_files_that_others_may_write_are_not_read(host: Host, library: Path) -> None:
    place = place_of(host, "hints-trust")
    site = place / "site.toml"
    site.write_text(f"[hints]\n{SIZE} = 65536\n")
    site.chmod(0o666)
    result = run(host, place, HEADRACE_SITE=str(site))
    assert in_use(result)[SIZE] == "1048576"
    assert result.err.count("is ignored (others may write to it)") == 1, result.err
    site.chmod(0o644)
    place.chmod(0o777)
    result = run(host, place, HEADRACE_SITE=str(site))
    assert in_use(result)[SIZE] == "1048576"
    assert result.err.count("is ignored (others may write to its directory)") == 1, result.err


def test_new_files_get_the_permissions_asked_for(host: Host, library: Path) -> None:
    place = place_of(host, "hints-permissions")
    run(host, place, "file_perm=0664", ranks=2)
    assert (place / "data.bin").stat().st_mode & 0o777 == 0o664
    # A file that is there keeps what it has.
    run(host, place, "file_perm=600", ranks=2)
    assert (place / "data.bin").stat().st_mode & 0o777 == 0o664
    result = run(host, place, "file_perm=rw-r--r--")
    assert "file_perm='rw-r--r--' is no octal number of permissions" in result.err


def test_a_pattern_for_another_rank_s_own_file_is_no_false_line(host: Host, library: Path) -> None:
    """Rank 0 cannot know of files that others open alone, and says so."""
    place = place_of(host, "hints-alone")
    program = compile_c(host, ["own_files.c"], "own_files")
    words = [program, place / "self"]
    given = {"HEADRACE_QUIET": "0", "HEADRACE_HINTS": "*self.1:cb_nodes=1"}
    given |= {"HEADRACE_HINTS_DISPLAY": "1", "ROMIO_HINTS": "/dev/null"}
    result = launch(host, 2, words, True, given)
    assert result.code == 0, result.explain()
    assert "cb_nodes = 1 (HEADRACE_HINTS, pattern '*self.1')" in result.err, result.explain()
    assert "had no effect" not in result.err, result.explain()
    line = "changed nothing on rank 0 (it opened no file that it is the first to match; what other"
    assert result.err.count(line) == 1, result.explain()
