"""spec/mpi.toml and the MPI standard's description -> the entries of src/abi and their wrappers.

The compiler compares each C prototype that is used with the three mpi.h.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from tools.generate.recording import Recording
from tools.generate.rendering import Output, SpecError, render
from tools.generate.standard import Binding, Standard

FILE_PREFIX = "MPI_File_"
FOLDER = "src/abi/generated"
COMMON = ("entry.h", "features.h", "exports.cc", "exports.map", "prototypes.h", "native_calls.h")


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


def alternatives(patterns: list[str]) -> str:
    return "|".join(f"(?:{own})" for own in patterns)


def handler_of(name: str) -> str:
    """The function of flavour/handler.h that serves it; shared with its large-count variant."""
    return name.removeprefix(FILE_PREFIX).removesuffix("_c")


@dataclass(frozen=True)
class Alias:
    """A further symbol of an entry; `name` is 0 for MPI_X's and 1 for PMPI_X's."""

    symbol: str
    entry: Binding
    name: int


def aliases(entries: list[Binding]) -> list[Alias]:
    return [
        Alias(symbol, own, name)
        for own in entries
        for name, symbols in enumerate((own.aliases, own.profiling_aliases))
        for symbol in symbols
    ]


@dataclass(frozen=True)
class Feature:
    """A part of the layer and what it wraps."""

    name: str
    wrapped: list[Binding]
    is_typed: bool = True
    """Its wrappers have the C prototypes' types; else machine words."""
    calls: str = ""
    """The header and namespace in `flavour` of functions that the wrappers call, with the next
    function of the chain in front; none: the feature has a template of its own."""

    @property
    def template(self) -> str:
        return f"{'calling' if self.calls else self.name}_wrappers.cc.j2"


class Model:
    """Everything that the templates say."""

    def __init__(self, spec: dict, standard: Standard) -> None:
        self.spec = spec
        self.standard = standard
        self.some = re.compile(alternatives(spec["some"]["procedures"]))
        features = [self.feature(own) for own in spec["features"]]
        front = [self.treated(standard[name], "front") for name in spec["front"]["procedures"]]
        every = {own.name: own for feature in features for own in feature.wrapped}
        entries = front + sorted(
            (own for own in every.values() if own.name not in {one.name for one in front}),
            key=lambda own: (own.linkage != "c", own.name),
        )
        self.exported = [own for own in entries if own.is_everywhere]
        self.caught = [own for own in entries if not own.is_everywhere]
        place = {own.name: i for i, own in enumerate(self.exported + self.caught)}
        self.features = [
            replace(own, wrapped=sorted(own.wrapped, key=lambda one: place[one.name]))
            for own in features
        ]
        required = [standard[name] for name in spec["calls"]["required"]]
        optional = [standard[name] for name in spec["calls"]["optional"]]
        self.required = {own.name for own in required}
        self.calls = required + optional
        typed = [own for feature in features if feature.is_typed for own in feature.wrapped]
        declared = {own.name: own for own in typed + self.calls}
        self.declared = [declared[name] for name in sorted(declared)]

    def treated(self, binding: Binding, treatment: str) -> Binding:
        """The binding with what the spec says of it."""
        is_everywhere = (
            binding.linkage == "c"
            and not binding.has_large_counts
            and binding.name not in self.spec["some"]["probed"]
            and not self.some.fullmatch(binding.name)
        )
        return replace(binding, treatment=treatment, is_everywhere=is_everywhere)

    def feature(self, spec: dict) -> Feature:
        if "treatments" in spec:
            wrapped = [
                self.treated(own, treatment)
                for treatment in spec["treatments"]
                for name in self.spec[treatment]["procedures"]
                for own in self.standard.with_large_count(name)
            ]
        else:
            wanted = re.compile(alternatives(spec["procedures"]))
            wrapped = [
                self.treated(own, spec["name"])
                for linkage in spec["linkages"]
                for own in self.standard.of_linkage(linkage)
                if wanted.fullmatch(own.procedure) and own.procedure not in spec.get("except", [])
            ]
        return Feature(spec["name"], wrapped, spec.get("typed", True), spec.get("calls", ""))

    def check_complete(self) -> None:
        """Every File procedure of the standard must have exactly one treatment."""
        treated = [
            own.name for feature in self.features if feature.is_typed for own in feature.wrapped
        ] + self.spec["identity"]["procedures"]
        twice = {name for name in treated if treated.count(name) > 1}
        files = {own.name for own in self.standard.of_linkage("c")}
        missing = {name for name in files if name.startswith(FILE_PREFIX)} - set(treated)
        if twice or missing:
            raise SpecError(
                f"spec/mpi.toml: treated twice: {sorted(twice)}, not treated: {sorted(missing)}"
            )

    def lacking_types(self, declared: list[Binding]) -> dict[str, dict[str, str]]:
        """By ABI: the types that its mpi.h lacks and these procedures have."""
        text = " ".join(f"{own.result} {own.declarations}" for own in declared)
        used = set(re.findall(r"\w+", text))
        return {
            abi: {name: type for name, type in types.items() if name in used}
            for abi, types in self.spec["differing"]["types"].items()
        }

    def values(self) -> dict[str, object]:
        return {
            "exported": self.exported,
            "caught": self.caught,
            "aliases": aliases(self.caught),
            "shown": self.spec["shown"]["functions"],
            "fortran_begin": sum(own.linkage == "c" for own in self.exported + self.caught),
            "features": self.features,
            "identity": self.spec["identity"]["procedures"],
            "calls": self.calls,
            "required": self.required,
            "declared": self.declared,
            "differing": self.spec["differing"],
            "lacking_types": self.lacking_types(self.declared),
            "macros": re.compile(alternatives(self.spec["differing"]["macros"])),
            "data": self.spec["openmpi"]["data"],
            "form": TransferForm.of,
            "handler": handler_of,
            "recorded": Recording(self.spec["record"]).of,
            "ends": self.spec["record"]["by_hand"],
        }

    def outputs(self, folder: str, templates: tuple[Path, ...] = ()) -> list[Output]:
        values = self.values()
        made = [render(f"{name}.j2", f"{folder}/{name}", **values) for name in COMMON]
        for feature in self.features:
            path = f"{folder}/{feature.name}_wrappers.cc"
            made.append(render(feature.template, path, templates, feature=feature, **values))
        return made


def read_spec(spec_folder: Path) -> dict:
    return tomllib.loads((spec_folder / "mpi.toml").read_text())


def outputs(spec_folder: Path) -> list[Output]:
    model = Model(read_spec(spec_folder), Standard())
    model.check_complete()
    return model.outputs(FOLDER)
