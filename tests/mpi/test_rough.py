"""What programs do to their process, and much of everything: docs/faults.md, "Rough places"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch, work_directory
from test_exercise import failed_cases

HARNESS = ["harness.c", "harness_calls.c", "harness_data.c"]
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
# Other people's preloads. AddressSanitizer finds its own way of leaks in the MPI libraries.
PRELOADS = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "asan": "libasan.so.8",
}
ASAN = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0:handle_segv=0"}
PEERS = ("mpich", "openmpi", "intel")


def deep(*values: object):
    return pytest.param(*values, marks=pytest.mark.deep)


def job(
    host: Host, ranks: int, program: str, words: tuple[str, ...] = (), layered: bool = True, **more
) -> Result:
    built = compile_c(host, [f"{program}.c", *HARNESS], program)
    directory = work_directory(f"{program}-{host.name}-{ranks}")
    return launch(host, ranks, [built, *words, directory], layered, **more)


def require_all_right(result: Result) -> None:
    assert result.code == 0 and result.out.endswith("end\n"), result.explain()
    assert " ok\n" in result.out and not failed_cases(result), result.explain()


@pytest.mark.parametrize("ranks", [2, deep(1), deep(4), deep(8)])
def test_process(host: Host, ranks: int, library) -> None:
    """Children, signals, cancelled threads, the file mapped by the program."""
    require_all_right(job(host, ranks, "rough_process"))


@pytest.mark.parametrize(("ranks", "words"), [(2, ()), deep(2, ("--deep",)), deep(8, ())])
def test_scale(host: Host, ranks: int, words: tuple[str, ...], library) -> None:
    """Many files, opens and communicators; names and counts that differ from rank to rank."""
    require_all_right(job(host, ranks, "rough_scale", words))


@pytest.mark.deep
def test_many_ranks(host: Host, library) -> None:
    """64 ranks on whatever cores there are."""
    if host.name not in PEERS:
        pytest.skip("tried with the three newest libraries")
    words = ("--only", "different_counts,different_names")
    require_all_right(job(host, 64, "rough_scale", words))


@pytest.mark.parametrize("what", ["files", deep("all")])
def test_closed_descriptors(host: Host, what: str, library) -> None:
    """What lost its descriptor fails and says so; no file of the program is touched."""
    built = compile_c(host, ["closed_descriptors.c"], "closed_descriptors")
    directory = work_directory(f"closed_descriptors-{host.name}")
    if what == "all":
        plain = launch(host, 2, [built, directory, "300", what], False, timeout=60)
        if plain.code == 124:
            pytest.skip(f"{host.name} itself stands still without its sockets")
        directory = work_directory(f"closed_descriptors-{host.name}")
    # As many as get numbers below those that the layer uses: see docs/faults.md.
    result = launch(host, 2, [built, directory, "300", what], True)
    decoys = re.findall(r"decoys: (\d+) changed, (\d+) closed", result.out)
    if what == "files":
        assert len(decoys) == 4, result.explain()
    assert all(one == ("0", "0") for one in decoys), result.explain()
    for rank in "ab":
        files = sorted(directory.glob(f"{rank}*"), key=lambda own: int(own.name[1:]))
        # The launcher, whose connection is closed, may end the rank between open and write.
        if what == "all" and files and not files[-1].read_bytes():
            files.pop()
        for own in files:
            assert own.read_bytes() == b"d" * 100, own


@pytest.mark.parametrize("first", ["layer", "other"])
@pytest.mark.parametrize("other", list(PRELOADS))
def test_preloads(host: Host, other: str, first: str, library) -> None:
    """Allocators and AddressSanitizer, before and after the layer."""
    path = LIBRARIES / PRELOADS[other]
    if not path.exists():
        pytest.skip(f"{path} is not there")
    if host.name not in PEERS:
        pytest.skip("tried with the three newest libraries")
    environment = ASAN if other == "asan" else {}
    words = ("--only", "children,alarms,mapped")
    plain = job(host, 2, "rough_process", words, False, objects=[path], environment=environment)
    if plain.code != 0:
        pytest.skip(f"{host.name} does not run with {other}, with or without the layer")
    objects = [library, path] if first == "layer" else [path, library]
    require_all_right(
        job(host, 2, "rough_process", words, objects=objects, environment=environment)
    )
