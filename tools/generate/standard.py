"""The MPI Forum's description of every procedure, as the package pympistandard has it -> bindings.

A binding is a procedure as one language and linkage has it: a symbol with parameters. The C
bindings are those of the standard, large counts among them. The Fortran ones are those that
libraries define for `mpif.h` and the module `mpi` (one symbol for both), and for `mpi_f08`; their
parameters are all addresses or values of one word, and each character argument has a hidden length
at the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pympistandard

from tools.generate.rendering import SpecError

# What a parameter is, by the Forum's kind. A kind that fits none is "other".
ROLES = (
    (r"COMMUNICATOR|DATATYPE|ERRHANDLER|FILE|GROUP|INFO|MESSAGE|OPERATION", None),
    (r"REQUEST|SESSION|STATUS|WINDOW|TAG", None),
    (r"C?_?BUFFER\d?", "buffer"),
    (r"(POLY)?(XFER|DTYPE)_NUM_ELEM(_NNI|_PI)?|POLYNUM_BYTES(_NNI)?", "count"),
    (r"POLYDTYPE_PACK_SIZE|ALLOC_MEM_NUM_BYTES|NUM_BYTES|TOOLS_NUM_ELEM_SMALL", "count"),
    (r"RANK(_NNI)?", "rank"),
    (r"ARRAY_LENGTH(_NNI|_PI)?", "length"),
    (r"(POLY|RMA_|POLYRMA_)?DISPLACEMENT(_\w+)?|OFFSET|POLYDISPOFFSET", "displacement"),
    (r"STRING(_ARRAY|_2DARRAY)?", "string"),
    (r"(POLY|EVENT_\w+_)?FUNCTION(_SMALL)?", "function"),
    (r"EXTRA_STATE2?", "state"),
)

# Where the description is wrong: parameters by procedure and name, as they are declared in C.
ERRATA = {("MPI_Info_create_env", "argv"): ("char*", "[]")}

# What MPI-3 removed, so that the description lacks it. Libraries go on having these procedures.
REMOVED = (
    "int MPI_Address(void* location, MPI_Aint* address)",
    "int MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler)",
    "int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler)",
    "int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)",
    "int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent)",
    "int MPI_Type_hindexed(int count, int array_of_blocklengths[],"
    " MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype)",
    "int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,"
    " MPI_Datatype* newtype)",
    "int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement)",
    "int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],"
    " MPI_Datatype array_of_types[], MPI_Datatype* newtype)",
    "int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement)",
)
REMOVED_KINDS = {
    "MPI_Comm": "COMMUNICATOR",
    "MPI_Datatype": "DATATYPE",
    "MPI_Errhandler": "ERRHANDLER",
    "void": "BUFFER",
}
REMOVED_COUNT = "DTYPE_NUM_ELEM"

# How libraries spell a Fortran symbol whose binding is called `x`: the first is gfortran's.
FORTRAN_SPELLINGS = ("{x}_", "{x}__", "{X}", "{x}")


def role_of(kind: str) -> str:
    for pattern, role in ROLES:
        if re.fullmatch(pattern, kind):
            return role or kind.lower()
    return "other"


def profiling(symbol: str) -> str:
    return f"p{symbol}" if symbol.islower() else f"P{symbol}"


@dataclass(frozen=True)
class Parameter:
    """One parameter. `type` includes const and stars, `suffix` is [] for arrays."""

    type: str
    name: str
    suffix: str = ""
    kind: str = ""
    """The Forum's, such as POLYXFER_NUM_ELEM_NNI; empty for what Fortran adds."""
    direction: str = ""
    """in, out or inout"""
    length: str = ""
    """Of an array: the parameter that tells it, or what else the Forum says."""

    @property
    def role(self) -> str:
        return role_of(self.kind)

    @property
    def is_array(self) -> bool:
        return bool(self.suffix)

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}{self.suffix}"


@dataclass(frozen=True)
class Binding:
    """One procedure in one language and linkage."""

    name: str
    """The symbol: MPI_Send_c, mpi_send_, mpi_send_f08_."""
    parameters: tuple[Parameter, ...]
    result: str = "int"
    linkage: str = "c"  # c; mpif (mpif.h and the module mpi); f08, f08ts
    is_variadic: bool = False
    procedure: str = ""
    """The C binding's name."""
    aliases: tuple[str, ...] = ()
    """Other symbols of the same function, for other compilers."""
    treatment: str = ""
    """What becomes of it, in the words of spec/mpi.toml; empty for those only called."""
    is_everywhere: bool = False
    """Every MPI library has it; so a preload may show it."""

    @property
    def short(self) -> str:
        """As it appears in enums: Send_c, Send_mpif, Send_f08."""
        base = self.procedure.removeprefix("MPI_")
        return base if self.linkage == "c" else f"{base}_{self.linkage}"

    @property
    def common(self) -> str:
        """What the forms with small and large counts have in common: Send."""
        return self.procedure.removeprefix("MPI_").removesuffix("_c")

    @property
    def profiling_name(self) -> str:
        return profiling(self.name)

    @property
    def profiling_aliases(self) -> tuple[str, ...]:
        found = tuple(map(profiling, self.aliases))
        if self.linkage in ("f08", "f08ts"):  # MPICH's
            own = (self.name, *self.aliases)
            found += tuple(f"pmpir_{name.removeprefix('mpi_')}" for name in own)
        return found

    @property
    def has_large_counts(self) -> bool:
        return self.procedure.endswith("_c")

    @property
    def shape(self) -> str:
        """How values pass: as words; with a double as the result; of any number and type."""
        if self.result == "double":
            return "double"
        return "variadic" if self.is_variadic else "words"

    @property
    def declarations(self) -> str:
        own = [parameter.declaration for parameter in self.parameters]
        return ", ".join(own + ["..."] * self.is_variadic)

    @property
    def type(self) -> str:
        """Of a pointer to it."""
        return f"{self.result} (*)({self.declarations})"

    @property
    def arguments(self) -> str:
        return ", ".join(parameter.name for parameter in self.parameters)

    def of_role(self, role: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters if parameter.role == role]

    def has(self, parameter: str) -> bool:
        return any(own.name == parameter for own in self.parameters)


def parse_c(prototype: str) -> tuple[str, str, list[Parameter], bool]:
    """Result, name, parameters and whether more may follow, of a prototype of pympistandard's."""
    head = re.fullmatch(r"(.+?)\s*(\w+)\((.*)\)", prototype.strip(), re.DOTALL)
    if not head:
        raise SpecError(f"cannot read the prototype {prototype}")
    result, name, inside = head.groups()
    parameters, is_variadic = [], False
    for text in [] if inside.strip() in ("", "void") else inside.split(","):
        if text.strip() in ("...", r"\ldots"):
            is_variadic = True
            continue
        found = re.fullmatch(r"\s*(.+?)\s*(\w+)((?:\[\d*\])*)", text)
        if not found:
            raise SpecError(f"cannot read the parameter '{text}' of {prototype}")
        kind, called, suffix = found.groups()
        kind, suffix = ERRATA.get((name, called), (kind, suffix))
        parameters.append(Parameter(kind, called, suffix))
    return result, name, parameters, is_variadic


def parse_fortran(text: str) -> tuple[list[str], list[str], bool]:
    """Arguments, those that are characters, and whether it is a function of a real result."""
    first, *declared = text.splitlines()
    arguments = re.search(r"\(([^()]*)\)\s*$", first).group(1)
    names = [name.strip() for name in arguments.split(",") if name.strip()]
    characters = []
    for line in declared:
        if not line.strip().startswith("CHARACTER"):
            continue
        listed = line.split("::")[1] if "::" in line else re.sub(r"^\s*CHARACTER\*?\S*", "", line)
        characters += re.findall(r"([A-Za-z]\w*)\s*(?:\([^)]*\))?\s*(?:,|$)", listed)
    return names, characters, first.startswith("DOUBLE PRECISION")


class Standard:
    """All bindings by symbol."""

    def __init__(self) -> None:
        pympistandard.use_api_version()
        self.bindings: dict[str, Binding] = {}
        for procedure in pympistandard.PROCEDURES.values():
            self.add_procedure(procedure)
        for prototype in REMOVED:
            self.add_removed(prototype)

    def add_removed(self, prototype: str) -> None:
        """What it gives back is its last parameter, if that is a pointer."""
        result, name, parameters, _ = parse_c(prototype)
        made = []
        for own in parameters:
            by_type = REMOVED_KINDS.get(own.type.rstrip("*"), "")
            kind = REMOVED_COUNT if own.name == "count" else by_type
            made.append(replace(own, kind=kind, direction="in"))
        if made[-1].type.endswith("*"):
            made[-1] = replace(made[-1], direction="out")
        self.bindings[name] = Binding(name, tuple(made), result, "c", False, name)

    def add_procedure(self, procedure: object) -> None:
        described = procedure._parseset["parameters"]
        express = procedure.express
        if express.iso_c is None:
            return  # MPI_Sizeof, MPI_F_sync_reg: Fortran's alone, and no calls of the library
        small = self.add_c(str(express.iso_c), described)
        self.add_fortran(small, "mpif", express.f90, described)
        self.add_fortran(small, "f08", express.f08, described)
        if procedure.has_embiggenment and express.embiggen.iso_c is not None:
            large = self.add_c(str(express.embiggen.iso_c), described)
            self.add_fortran(large, "f08", express.embiggen.f08, described)

    def add_c(self, prototype: str, described: list[dict]) -> Binding:
        result, name, parameters, is_variadic = parse_c(prototype)
        by_name = {own["name"]: own for own in described}
        made = tuple(
            Parameter(
                own.type, own.name, own.suffix, **self.facts(by_name.get(own.name), name, own.name)
            )
            for own in parameters
        )
        self.bindings[name] = Binding(name, made, result, "c", is_variadic, name)
        return self.bindings[name]

    @staticmethod
    def facts(described: dict | None, procedure: str, name: str) -> dict[str, str]:
        if described is None:
            raise SpecError(f"the description of {procedure} has no parameter {name}")
        length = described["length"]
        return {
            "kind": described["kind"],
            "direction": described["param_direction"],
            "length": ", ".join(map(str, length))
            if isinstance(length, list)
            else str(length or ""),
        }

    def add_fortran(self, c: Binding, linkage: str, binding: object, described: list[dict]) -> None:
        if binding is None or str(binding) == "None":
            return
        names, characters, is_real = parse_fortran(str(binding))
        by_name = {own["name"].lower(): own for own in described}
        made = []
        for name in names:
            own = by_name.get(name.lower())
            facts = {} if own is None else self.facts(own, c.name, name)
            made.append(Parameter("void*", name.lower(), **facts))
        made += [Parameter("size_t", f"{name.lower()}_len") for name in characters]
        base = c.name.lower()
        is_choice = any(own.role == "buffer" for own in made)
        # With TS 29113 descriptors of buffers are passed, and libraries name the symbol after it.
        linkages = [linkage, "f08ts"] if linkage == "f08" and is_choice else [linkage]
        for own in linkages:
            called = base if own == "mpif" else f"{base}_{own}"
            spellings = [form.format(x=called, X=called.upper()) for form in FORTRAN_SPELLINGS]
            if own != "mpif":
                # Specific procedures of a module, which no compiler spells otherwise. MPICH 4 has
                # another name for those with large counts.
                spellings = [f"{called}_"]
                if base.endswith("_c"):
                    spellings.append(f"{base.removesuffix('_c')}_{own}_large_")
            result = "double" if is_real else "void"
            if c.name in ("MPI_Aint_add", "MPI_Aint_diff"):
                result = "MPI_Aint"
            self.bindings[spellings[0]] = Binding(
                spellings[0], tuple(made), result, own, False, c.name, tuple(spellings[1:])
            )

    def __getitem__(self, name: str) -> Binding:
        if name not in self.bindings:
            raise SpecError(f"spec/mpi.toml names {name}, which is no C binding of MPI")
        return self.bindings[name]

    def with_large_count(self, name: str) -> list[Binding]:
        names = [name] + ([f"{name}_c"] if f"{name}_c" in self.bindings else [])
        return [self[own] for own in names]

    def of_linkage(self, linkage: str) -> list[Binding]:
        return [own for own in self.bindings.values() if own.linkage == linkage]
