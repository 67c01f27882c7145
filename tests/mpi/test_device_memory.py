"""Buffers in a device's memory, by stand-ins of the three drivers (tests/support/gpu)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from hosts import Host
from running import (
    BUILD,
    REPOSITORY,
    Result,
    compile_c,
    compile_program,
    launch,
    one_at_a_time,
    work_directory,
)

STAND_INS = REPOSITORY / "tests" / "support" / "gpu"
DRIVERS = {
    "cuda": ("libcuda.so.1", "cuda.c", []),
    "hip": ("libamdhip64.so.6", "hip.c", ["-DHIP_VERSION_MAJOR=6"]),
    "hip5": ("libamdhip64.so.5", "hip.c", ["-DHIP_VERSION_MAJOR=5"]),
    "level_zero": ("libze_loader.so.1", "level_zero.c", []),
}
PINNED_MOST = 4 * (2 << 20)  # what the layer may hold for staging, in bytes


def stand_in(driver: str) -> Path:
    """The directory of the driver's library, under the name by which programs open it."""
    name, source, flags = DRIVERS[driver]
    parts = [source, "memory.c", "statistics.c", "stream.c", "reset.c"]
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-pthread", f"-Wl,-soname,{name}"]
    built = compile_program(
        ["gcc"], [str(STAND_INS / part) for part in parts], f"driver-{driver}", options + flags
    )
    directory = BUILD / "drivers" / driver
    directory.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(f"driver-{driver}"):
        shutil.copyfile(built, directory / f".{name}")
        (directory / f".{name}").rename(directory / name)
    return directory


def run_program(
    host: Host,
    driver: str,
    ranks: int,
    mode: str,
    *,
    program: str = "files",
    layered: bool = True,
    settings: dict | None = None,
) -> tuple[Result, list[dict]]:
    """What came out, and what the drivers of the ranks counted."""
    directory = work_directory(f"device-{host.name}-{driver}-{ranks}-{mode}")
    built = compile_c(host, [f"device_{program}.c", "device_memory.c"], f"device_{program}")
    log = directory / "log"
    variables = {
        "LD_LIBRARY_PATH": f"{stand_in(driver)}:{host.environment.get('LD_LIBRARY_PATH', '')}",
        "GPU_LOG": str(log),
        **(settings or {}),
    }
    result = launch(host, ranks, [built, directory, driver, mode], layered, variables)
    counts = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return result, counts


def require_all_right(result: Result) -> None:
    assert result.code == 0, result.explain()
    assert re.search(r"^[1-9]\d* cases, 0 wrong$", result.out, re.MULTILINE), result.explain()


def deep(*values: object):
    return pytest.param(*values, marks=pytest.mark.deep)


@pytest.mark.parametrize(
    ("driver", "ranks"),
    [
        *[("cuda", 2), ("hip", 1), ("level_zero", 1)],
        *[deep("cuda", 1), deep("cuda", 4), deep("hip", 2), deep("level_zero", 2)],
        *[deep("hip5", 1), deep("hip5", 2)],
    ],
)
def test_every_function(host: Host, driver: str, ranks: int, library: Path, cell) -> None:
    cell(host.name, "c", ranks)
    result, counts = run_program(host, driver, ranks, "all")
    require_all_right(result)
    # The layer's copies, through pinned memory that is bounded; the program's are not counted.
    assert len(counts) >= ranks and sum(one["copies"] for one in counts) > 0, counts
    assert all(one["pinned_most"] <= PINNED_MOST + (8 << 10) for one in counts), counts


@pytest.mark.parametrize("mode", ["mixed", "converted"])
def test_other_buffers(host: Host, mode: str, library: Path) -> None:
    """Device and host memory on the ranks of one call; a representation that is converted."""
    require_all_right(run_program(host, "cuda", 2, mode)[0])


@pytest.mark.parametrize(("mode", "failures"), [("fail", 40), ("stream", 10)])
@pytest.mark.parametrize("driver", ["cuda", deep("hip"), deep("level_zero")])
def test_copies_that_fail(host: Host, driver: str, mode: str, failures: int, library: Path) -> None:
    """A copy fails, or there is no stream for it: the others of a call go on."""
    result, counts = run_program(host, driver, 2, mode, program="faults")
    require_all_right(result)
    assert sum(one["failures"] for one in counts) > 0, counts
    told = re.findall(r"^told: (.*)$", result.out, re.MULTILINE)
    assert len(told) == failures, result.explain()
    # MPICH 4.0 keeps no texts of codes like ours.
    driver_says = (
        r"cannot (write to|read from) '.*' with a buffer in a device's memory \(.+\), check"
    )
    why = "Other I/O error" if host.name == "debian-mpich" else driver_says
    assert all(re.match(why, one) for one in told), result.explain()


@pytest.mark.parametrize("driver", ["cuda", deep("hip"), deep("level_zero")])
def test_driver_comes_late(host: Host, driver: str, library: Path) -> None:
    """The program loads the driver after the file was opened and written to."""
    result, counts = run_program(host, driver, 2, "late", program="faults")
    require_all_right(result)
    assert sum(one["copies"] for one in counts) > 0, counts


@pytest.mark.parametrize(
    ("driver", "mode"),
    [
        *[("cuda", "reset"), ("hip", "reset"), ("hip", "keep"), ("level_zero", "reset")],
        *[deep("hip5", "reset"), deep("hip5", "keep")],
    ],
)
def test_device_is_reset(host: Host, driver: str, mode: str, library: Path) -> None:
    """What the program makes afterwards lies where the layer's lay, and is not taken for it."""
    require_all_right(run_program(host, driver, 1, mode, program="reset")[0])


@pytest.mark.parametrize("mode", ["independent", "collective", "split"])
@pytest.mark.parametrize("driver", ["cuda", deep("hip"), deep("level_zero")])
def test_many_calls_wait(host: Host, driver: str, mode: str, library: Path) -> None:
    """Calls that wait for other ranks, or for a thread, hold neither pinned memory nor streams."""
    result, counts = run_program(host, driver, 2, mode, program="many")
    require_all_right(result)
    assert sum(one["copies"] for one in counts) > 0, counts
    assert all(one["pinned_most"] <= PINNED_MOST for one in counts), counts
    assert all(one["streams"] <= 100 for one in counts), counts


def test_node_memory_bounds_pinned_memory(host: Host, library: Path) -> None:
    """An eighth for all ranks of the node, as of what they convert and sieve."""
    result, counts = run_program(
        host, "cuda", 2, "late", program="faults", settings={"HEADRACE_NODE_MEMORY": "1m"}
    )
    require_all_right(result)
    assert all(0 < one["pinned_largest"] <= (1 << 20) // 8 // 2 for one in counts), counts


def test_stand_in_is_out_of_reach(host: Host, library: Path) -> None:
    """Without the layer the program cannot do it: what it is given is no memory of the CPU's."""
    result, _ = run_program(host, "cuda", 1, "all", layered=False)
    assert result.code != 0, result.explain()
