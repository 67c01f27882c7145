"""spec/mpi.toml and the MPI standard's description -> the entries of src/abi.

The description is pympistandard's: every procedure with its C prototype, and the prototype of its
large-count variant. The compiler compares each prototype with the three mpi.h.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pympistandard

from tools.generate.rendering import Output, SpecError, render

FILE_PREFIX = "MPI_File_"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a C binding. `type` includes const and stars, `suffix` is [] for arrays."""

    type: str
    name: str
    suffix: str

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}{self.suffix}"


@dataclass(frozen=True)
class TransferForm:
    """What the name of a procedure that moves data says."""

    manner: str  # blocking, start (nonblocking), begin, end (split collective)
    direction: str  # read, write
    collective: bool
    shared: bool
    has_offset: bool

    NAME = re.compile(
        FILE_PREFIX + r"(i?)(read|write)(_at)?(?:_(all|shared|ordered))?(?:_(begin|end))?(?:_c)?"
    )

    @classmethod
    def of(cls, name: str) -> TransferForm:
        found = cls.NAME.fullmatch(name)
        if not found:
            raise SpecError(f"spec/mpi.toml: the name {name} tells no form of access")
        nonblocking, direction, at, coordination, half = found.groups()
        return cls(
            manner=half or ("start" if nonblocking else "blocking"),
            direction=direction,
            collective=coordination in ("all", "ordered"),
            shared=coordination in ("shared", "ordered"),
            has_offset=at is not None,
        )


@dataclass(frozen=True)
class Procedure:
    """One C binding, such as MPI_File_read_c, and what becomes of it."""

    name: str
    parameters: list[Parameter]
    kind: str = ""  # boundary, transfer, own, completion, front; empty for those only called
    required: bool = True  # every MPI library has it

    @property
    def short(self) -> str:
        """The name without MPI_, as it appears in enums and tables."""
        return self.name.removeprefix("MPI_")

    @property
    def declarations(self) -> str:
        return ", ".join(parameter.declaration for parameter in self.parameters)

    @property
    def arguments(self) -> str:
        return ", ".join(parameter.name for parameter in self.parameters)

    @property
    def handler_arguments(self) -> str:
        """The arguments after the file handle, each with a comma in front."""
        return "".join(f", {parameter.name}" for parameter in self.parameters[1:])

    @property
    def handler(self) -> str:
        """The function of flavour/handler.h that serves it; shared with its large-count variant."""
        return self.name.removeprefix(FILE_PREFIX).removesuffix("_c")

    @property
    def form(self) -> TransferForm:
        """Of the procedures that move data."""
        return TransferForm.of(self.name)

    @property
    def is_exported(self) -> bool:
        """Of the procedures between program and library; the others are caught."""
        return self.required and not self.name.endswith("_c")

    def has(self, parameter: str) -> bool:
        return any(own.name == parameter for own in self.parameters)


def parse_parameters(prototype: str) -> list[Parameter]:
    """The parameters of a prototype as pympistandard prints it: type, stars, name, brackets."""
    inside = prototype[prototype.index("(") + 1 : prototype.rindex(")")]
    if inside.strip() in ("", "void"):
        return []
    parameters = []
    for text in inside.split(","):
        found = re.fullmatch(r"\s*(.+?)\s*(\w+)((?:\[\d*\])*)", text)
        if not found:
            raise SpecError(f"cannot read the parameter '{text}' of {prototype}")
        parameters.append(Parameter(*found.groups()))
    return parameters


class Standard:
    """The MPI standard's C bindings by name, large-count variants among them."""

    def __init__(self) -> None:
        pympistandard.use_api_version()
        self.bindings: dict[str, list[Parameter]] = {}
        for procedure in pympistandard.PROCEDURES.values():
            express = procedure.express
            self.add(express.iso_c)
            if procedure.has_embiggenment:
                self.add(express.embiggen.iso_c)

    def add(self, binding: object) -> None:
        if binding is None:
            return
        prototype = str(binding)
        name = prototype[: prototype.index("(")].split()[-1].lstrip("*")
        self.bindings[name] = parse_parameters(prototype)

    def procedure(self, name: str, **properties: object) -> Procedure:
        if name not in self.bindings:
            raise SpecError(f"spec/mpi.toml names {name}, which is no C binding of MPI")
        return Procedure(name, self.bindings[name], **properties)

    def with_large_count(self, name: str, **properties: object) -> list[Procedure]:
        names = [name] + ([f"{name}_c"] if f"{name}_c" in self.bindings else [])
        return [self.procedure(own, **properties) for own in names]


def carried(standard: Standard, spec: dict) -> list[Procedure]:
    """The procedures between program and library: those that all libraries have first."""
    found = [
        procedure
        for kind in ("boundary", "transfer", "own", "completion")
        for name in spec[kind]["procedures"]
        for procedure in standard.with_large_count(name, kind=kind)
    ]
    found += [
        standard.procedure(name, kind="completion", required=False)
        for name in spec["completion"]["optional"]
    ]
    check_complete(standard, spec, found)
    return sorted(found, key=lambda procedure: (not procedure.is_exported, procedure.name))


def check_complete(standard: Standard, spec: dict, found: list[Procedure]) -> None:
    """Every File procedure of the standard must have exactly one treatment."""
    treated = [procedure.name for procedure in found] + spec["identity"]["procedures"]
    twice = {name for name in treated if treated.count(name) > 1}
    missing = {name for name in standard.bindings if name.startswith(FILE_PREFIX)} - set(treated)
    if twice or missing:
        raise SpecError(
            f"spec/mpi.toml: treated twice: {sorted(twice)}, not treated: {sorted(missing)}"
        )


def outputs(spec_folder: Path) -> list[Output]:
    spec = tomllib.loads((spec_folder / "mpi.toml").read_text())
    standard = Standard()
    entries = carried(standard, spec)
    front = [standard.procedure(name, kind="front") for name in spec["front"]["procedures"]]
    calls = [standard.procedure(name) for name in spec["calls"]["required"]]
    calls += [standard.procedure(name, required=False) for name in spec["calls"]["optional"]]
    values = {
        "exported": front + [entry for entry in entries if entry.is_exported],
        "caught": [entry for entry in entries if not entry.is_exported],
        "entries": entries,
        "identity": spec["identity"]["procedures"],
        "calls": calls,
        "declared": sorted(
            {own.name: own for own in [*entries, *calls]}.values(), key=lambda own: own.name
        ),
        "data": spec["openmpi"]["data"],
    }
    folder = "src/abi/generated"
    return [
        render(f"{name}.j2", f"{folder}/{name}", **values)
        for name in (
            "entry.h",
            "exports.cc",
            "exports.map",
            "prototypes.h",
            "native_calls.h",
            "flavour_entries.cc",
        )
    ]
