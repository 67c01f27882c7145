"""Which processes share a file: children, intercommunicators, files left open. The off switch."""

from __future__ import annotations

import io
import struct
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hosts import Host
from running import C_FLAGS, compile_c, compile_program, launch, preload, run, tree, work_directory

HARNESS = ["harness.c", "harness_data.c"]
# What libc has its list of variables under. All but the last are weak.
ENVIRON = {"environ", "_environ", "__environ"}


def test_file_left_open_at_finalize(host: Host, library) -> None:
    program = compile_c(host, ["left_open.c", *HARNESS], "left_open")
    directory = work_directory(f"left_open-{host.name}")
    result = launch(host, 2, [program, directory], layered=True)
    assert result.code == 0 and "ok" in result.out, result.explain()
    assert not result.litter, result.litter
    values = struct.unpack("1000i", (directory / "left_open.data").read_bytes())
    for piece in range(200):
        first = 1000 * (piece % 2) + piece // 2 * 5
        assert list(values[piece * 5 : piece * 5 + 5]) == list(range(first, first + 5))


@pytest.mark.parametrize("children_layered", [True, False], ids=["layered", "plain"])
def test_spawned_children(host: Host, children_layered: bool, library) -> None:
    """Children may lack the layer: a file shared with them goes to the library on all ranks, and
    ranks keep their numbers."""
    program = compile_c(host, ["spawn.c", *HARNESS], "spawn")
    directory = work_directory(f"spawn-{host.name}")
    plain = launch(host, 2, [program, directory], layered=False)
    if plain.code != 0:
        pytest.skip(f"{host.name} cannot spawn here, with or without the layer")
    directory = work_directory(f"spawn-{host.name}")
    reordered = {"HEADRACE_CART_REORDER": "1"}
    if children_layered:  # the preload is in the launcher's environment, which children get
        environment = host.environment | preload([library]) | {"MPI_TEST_EXPECT": "engine"}
        environment |= reordered
        result = run([*host.launch_line(2), program, directory], environment)
    else:
        result = launch(host, 2, [program, directory], True, reordered, timeout=120)
    assert result.code == 0 and "ok" in result.out.split(), result.explain()
    values = struct.unpack("30i", (directory / "spawn.data").read_bytes())
    assert list(values) == [100 * (i // 10) + i % 10 for i in range(30)]


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_an_object_that_asks_for_mpi_while_it_starts(host: Host, disabled: str, library) -> None:
    """The thread that loads it has the dynamic linker's lock, which the one that starts MPI wants,
    too: neither may wait for the other."""
    program = compile_program(
        host.compilers["c"], ["loads_meanwhile.c"], f"loads-meanwhile-{host.name}"
    )
    flags = ["-shared", "-fPIC"]
    name = f"asking-object-{host.name}"
    loaded = compile_program(host.compilers["c"], ["asking_object.c"], name, flags)
    given = {"HEADRACE_DISABLE": disabled}
    result = launch(host, 1, [program, loaded], True, given, timeout=60)
    assert result.code == 0 and result.out == "loaded\n", result.explain()


def test_intercommunicator(host: Host, library) -> None:
    program = compile_c(host, ["intercomm.c", *HARNESS], "intercomm")
    answers = []
    for layered in (False, True):
        directory = work_directory(f"intercomm-{host.name}")
        result = launch(host, 2, [program, directory], layered, timeout=30)
        answers.append((result.code, result.out))
    assert answers[0] == answers[1]


def test_disabled_is_plain(host: Host, library) -> None:
    """HEADRACE_DISABLE=1, or HEADRACE_DISABLE_FOR with the program's name: it finds no file
    carried, and the same files result."""
    program = compile_c(host, ["traced.c", *HARNESS], "traced")
    out, files = {}, {}
    for name, layered, environment in (
        ("plain", False, {}),
        ("disabled", True, {"HEADRACE_DISABLE": "1"}),
        ("left out", True, {"HEADRACE_DISABLE_FOR": "other,TRACED*"}),
        ("layer", True, {"HEADRACE_DISABLE_FOR": "trace,*traced2"}),
    ):
        directory = work_directory(f"disabled-{host.name}-{name.replace(' ', '-')}")
        result = launch(host, 2, [program, directory], layered, environment)
        assert result.code == 0, result.explain()
        out[name], files[name] = result.out, tree(directory)
    assert out["plain"] == out["disabled"] == out["left out"] == "ok, 0 of 3 files carried\n"
    assert out["layer"] == "ok, 3 of 3 files carried\n"
    assert files["plain"] == files["disabled"] == files["left out"] == files["layer"]


@pytest.mark.parametrize("kind", ["defined", "copied"])
def test_disabled_in_a_program_with_its_own_environ(host: Host, kind: str, library) -> None:
    """What the program, or its linker, made of `environ` takes no setting from the layer."""
    program = with_own_environ(host, kind)
    for disable, carried in (("1", 0), ("0", 3)):
        directory = work_directory(f"environ-{host.name}-{kind}-{disable}")
        result = launch(host, 2, [program, directory], True, {"HEADRACE_DISABLE": disable})
        assert result.code == 0, result.explain()
        assert result.out == f"ok, {carried} of 3 files carried\n"


def with_own_environ(host: Host, kind: str) -> Path:
    """The program traced, in which `environ` is not libc's variable: defined by the program, or
    copied by a linker that was not told libc's other names of it."""
    flags = [*C_FLAGS, "-no-pie", "-fno-pie", "-Wl,--allow-shlib-undefined"]
    compiler = host.compilers["c"]
    if kind == "defined":
        flags += ["-DOWN_ENVIRON", "-Wl,--export-dynamic-symbol=environ"]
    else:
        folder = with_strong_names(work_directory(f"environ-libc-{host.name}"))
        compiler = [*compiler, "-nodefaultlibs", f"-L{folder}", "-l:libc.so.6", "-lgcc"]
    sources = ["traced.c", "own_environ.c", *HARNESS]
    program = compile_program(compiler, sources, f"environ-{kind}-{host.name}", flags)
    listed = of_readelf("--dyn-syms", program)
    assert {word for word in listed.replace("@", " ").split() if word in ENVIRON} == {"environ"}
    copied = [line for line in of_readelf("--relocs", program).splitlines() if "_COPY" in line]
    assert any("environ@" in line for line in copied) == (kind == "copied")
    return program


def with_strong_names(folder: Path) -> Path:
    """A folder with this system's libc to link with, in which no name is weak for `__environ`."""
    command = ["gcc", "-print-file-name=libc.so.6"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    content = bytearray(Path(path).read_bytes())
    table = ELFFile(io.BytesIO(content)).get_section_by_name(".dynsym")
    for number, symbol in enumerate(table.iter_symbols()):
        if symbol.name in ENVIRON:
            info = table["sh_offset"] + number * table["sh_entsize"] + 4
            content[info] = 1 << 4 | content[info] & 15  # STB_GLOBAL
    (folder / "libc.so.6").write_bytes(content)
    return folder


def of_readelf(option: str, program: Path) -> str:
    command = ["readelf", "--wide", option, program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
