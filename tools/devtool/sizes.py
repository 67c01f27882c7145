"""docs/measurements/size.md: what each feature adds to libheadrace.so, and to its build."""

from __future__ import annotations

import datetime
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devtool.paths import LIBRARY, RELEASE, ROOT

PAGE = ROOT / "docs" / "measurements" / "size.md"
FLAVOURS = ("mpich", "openmpi", "mpiabi")


@dataclass(frozen=True)
class Part:
    """What is there for one feature: whole rooms of src, and sources of the room abi, by the
    beginnings of their names. `wraps`: what spec/mpi.toml calls it, if it wraps procedures."""

    what: str
    rooms: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    wraps: str = ""


PARTS = (
    Part(
        "file I/O",
        ("file", "exchange", "buffering", "view", "plan", "policy", "storage"),
        (
            *(
                "file_",
                "end_of_job",
                "open_handlers",
                "view_handlers",
                "attribute_handlers",
                "transfer",
                "hint",
            ),
            *("request", "identity", "lone_files_end", "quiet_self", "committed", "datatype"),
            *("predefined_type", "representation", "converted", "external32_", "user_repr"),
        ),
        "file",
    ),
    Part("recorder, regions", ("record",), ("recorder_", "recorded_", "own_functions"), "recorder"),
    Part("collective operations", ("collective",), ("collective_",), "collective"),
    Part("barrier before collectives", (), ("sync_",), "sync"),
    Part("ends of communicators, for both", (), ("ending_",), "ending"),
    Part("completion of requests", (), ("completion",), "completion"),
    Part(
        "reordered topologies",
        (),
        ("topology_", "cart_topology", "graph_topology", "node_numbers"),
        "topology",
    ),
    Part("displays of bindings and limits", (), ("binding_display", "eager_limits")),
    Part("tracing of functions", ("trace",), ("trace_slots",)),
    Part("the program's own files: counts and buffers", ("posix",), ("io_slots",)),
    Part("sampling, hardware counters", ("profile",)),
    Part("device memory", ("device",)),
    Part("shared by them", ("base", "topo", "fabric", "threads")),
    Part("MPI, shared by them: entries, chains, ground of flavours", (), ("",)),
)
HEAD = """\
# What each feature adds to the library and its build

    ./dev build --sizes     # builds, and writes this page

`libheadrace.so` has {size:.1f} MiB of code and data ({date}, GCC {compiler}, release). A test
keeps it below {most} MiB. Pages of it that a job does not use are never read. Each MPI ABI has a
flavour of its own, so what lies in `src/abi/flavour`, generated entries included, is there three
times. Sizes are those of the compiled files, before the linker leaves out what is not used. The
C++ library is linked in, too: the program's own cannot clash with it. The last column says how
the time of compiling them is divided. Tests and benchmark programs come on top: [how long
installs and builds take](../test-costs.md#groups).

| feature | rooms | KiB of rooms | KiB of `abi`, all flavours | share of the time |
| --- | --- | --- | --- | --- |
"""
MOST_MIB = 8


@dataclass(frozen=True)
class Compiled:
    """An object of the library."""

    room: str
    source: str  # the name, without .cc
    bytes: int
    seconds: float


def part_of(one: Compiled) -> Part:
    """The first part that names it; of `abi` the last takes all."""
    for part in PARTS:
        if one.room in part.rooms or (one.room == "abi" and one.source.startswith(part.sources)):
            return part
    raise LookupError(f"no part of the library has the room {one.room}, add it to PARTS")


def write() -> None:
    """Errors: OSError, subprocess.CalledProcessError."""
    PAGE.write_text(page(compiled(), shown_bytes(LIBRARY)))


def compiled() -> list[Compiled]:
    """All objects of libheadrace.so, as built."""
    objects = {path: room for path, room in _objects()}
    seconds = seconds_by_output((RELEASE / ".ninja_log").read_text())
    command = ["size", *objects]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for line in lines[1:]:
        text, data, _, _, _, name = line.split(maxsplit=5)
        path = Path(name)
        took = seconds.get(str(path.relative_to(RELEASE)), 0.0)
        source = path.name.removesuffix(".cc.o")
        found.append(Compiled(objects[path], source, int(text) + int(data), took))
    return found


def _objects() -> Iterable[tuple[Path, str]]:
    rooms = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()} - {"abi", "gather"}
    for room in sorted(rooms):
        folder = RELEASE / "CMakeFiles" / f"headrace_{room}.dir"
        yield from ((path, room) for path in _of_sources(folder, ROOT))
    abi = RELEASE / "src" / "abi" / "CMakeFiles"
    for name in ("headrace", "headrace_abi", *(f"headrace_flavour_{one}" for one in FLAVOURS)):
        yield from (
            (path, "abi") for path in _of_sources(abi / f"{name}.dir", ROOT / "src" / "abi")
        )


def _of_sources(folder: Path, sources: Path) -> list[Path]:
    """The objects there whose sources have not been removed since."""
    return [
        path
        for path in sorted(folder.rglob("*.cc.o"))
        if (sources / path.relative_to(folder)).with_suffix("").exists()
    ]


def seconds_by_output(log: str) -> dict[str, float]:
    """How long each output took last, by Ninja's log."""
    found = {}
    for line in log.splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            found[output] = (int(end) - int(begin)) / 1000
    return found


def shown_bytes(library: Path) -> int:
    """Code and data of an object, as it is in the file."""
    done = subprocess.run(["size", library], capture_output=True, text=True, check=True)
    text, data = done.stdout.splitlines()[1].split()[:2]
    return int(text) + int(data)


def page(objects: Sequence[Compiled], size: int) -> str:
    every: dict[str, list[Compiled]] = {part.what: [] for part in PARTS}
    for one in objects:
        every[part_of(one).what].append(one)
    seconds = sum(one.seconds for one in objects)
    facts = {"size": size / 2**20, "date": datetime.date.today().isoformat(), "most": MOST_MIB}
    head = HEAD.format(**facts, compiler=_compiler())
    return head + "".join(_row(part, every[part.what], seconds) for part in PARTS)


def _row(part: Part, own: Sequence[Compiled], seconds: float) -> str:
    rooms = ", ".join(f"`{room}`" for room in part.rooms)
    in_rooms, in_abi = (
        sum(one.bytes for one in own if (one.room == "abi") == is_abi) for is_abi in (False, True)
    )
    kib = " | ".join(f"{size / 1024:,.0f}" if size else "" for size in (in_rooms, in_abi))
    share = sum(one.seconds for one in own) / seconds if seconds else 0.0
    return f"| {part.what} | {rooms} | {kib} | {share:.0%} |\n"


def _compiler() -> str:
    text = (RELEASE / "CMakeCache.txt").read_text(errors="replace")
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", text, re.MULTILINE)
    command = [found[1] if found else "c++", "-dumpfullversion"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
