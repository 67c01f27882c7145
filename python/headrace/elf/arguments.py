"""How many bytes of arguments a function takes on the stack at most, as debugging information
tells. All arguments are counted as if none went by a register: too many bytes do no harm, too few
would lose arguments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo

from headrace.elf.producers import units_of
from headrace.elf.symbols import BROKEN, LARGEST_READ, opened

WORD = 8
MOST = 16384  # bytes that are copied
MOST_TYPES = 64  # one behind the other
NO_DEBUG = "its arguments are not known: build it with -g"
_ASSEMBLER = 0x8001  # DW_LANG_Mips_Assembler
_FORTRAN = {0x7, 0x8, 0xE, 0x22, 0x23, 0x2D}
_CXX = {0x4, 0x1A, 0x21, 0x2B, 0x3A}
# What is passed by its address, or as one.
_WORDS = (
    *("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"),
    *("DW_TAG_subroutine_type", "DW_TAG_unspecified_type", "DW_TAG_string_type"),
)
# Parts that a compiler cut out of functions, with arguments of its own choice.
_CLONES = (".isra", ".part", ".cold", ".lto_priv.part")


@dataclass(frozen=True)
class Arguments:
    """stack: bytes, a multiple of 8. refusal: why they are not known; "": they are."""

    stack: int = 0
    refusal: str = ""


def is_clone(name: str) -> bool:
    return any(mark in name for mark in _CLONES)


def arguments_of(path: Path, functions: Mapping[int, str]) -> dict[int, Arguments]:
    """By the functions' addresses, of all of them. functions: their names."""
    made = dict.fromkeys(functions, Arguments(refusal=NO_DEBUG))
    wanted = set()
    for address, name in functions.items():
        if is_clone(name):
            made[address] = Arguments(refusal="its compiler chose its arguments (a part or clone)")
        else:
            wanted.add(address)
    try:
        with opened(path) as elf:
            if path.stat().st_size > LARGEST_READ:
                reason = f"its file is larger than {LARGEST_READ >> 20} MiB, and not searched"
                return made | dict.fromkeys(wanted, Arguments(refusal=reason))
            if wanted and elf.has_dwarf_info():
                made |= _found(elf.get_dwarf_info(), wanted)
    except BROKEN:
        pass
    return made


def _found(dwarf: DWARFInfo, wanted: set[int]) -> dict[int, Arguments]:
    made = {}
    for unit, own in units_of(dwarf, wanted):
        # One that cannot be read costs the functions of this unit only.
        try:
            made |= _of_unit(unit, own)
        except BROKEN:
            continue
    return made


def _of_unit(unit: CompileUnit, wanted: set[int]) -> dict[int, Arguments]:
    language = unit.get_top_DIE().attributes.get("DW_AT_language")
    number = language.value if language is not None else 0
    if number == _ASSEMBLER:
        return {}
    tells: dict[int, bool] = {}
    made = {}
    for at, die in _functions(unit, wanted).items():
        # Link-time optimisation has code in one unit, and what it is in another.
        teller = (_origin(die) or die).cu
        if teller.cu_offset not in tells:
            tells[teller.cu_offset] = _tells_types(teller)
        if tells[teller.cu_offset]:
            made[at] = _arguments(die, number)
    return made


def _tells_types(unit: CompileUnit) -> bool:
    """-g1 has functions without their arguments."""
    tags = ("DW_TAG_base_type", "DW_TAG_formal_parameter")
    return any(die.tag in tags for die in unit.iter_DIEs())


def _functions(unit: CompileUnit, wanted: set[int]) -> dict[int, DIE]:
    """Those that begin at the addresses."""
    found: dict[int, DIE] = {}
    for die in unit.iter_DIEs():
        if die.tag != "DW_TAG_subprogram":
            continue
        low = die.attributes.get("DW_AT_low_pc")
        if low is not None and low.value in wanted:
            found[low.value] = die
        elif low is None and "DW_AT_ranges" in die.attributes:
            found.update(dict.fromkeys(_entries(die, unit, wanted), die))
    return found


def _entries(die: DIE, unit: CompileUnit, wanted: set[int]) -> Iterable[int]:
    """The entry of a function in several pieces is where its first one begins."""
    entry = die.attributes.get("DW_AT_entry_pc")
    if entry is not None:
        return {entry.value} & wanted
    lists = unit.dwarfinfo.range_lists()
    if lists is None:
        return ()
    base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    start = base.value if base is not None else 0
    for one in lists.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=unit):
        if hasattr(one, "base_address"):
            start = one.base_address
        else:
            return {one.begin_offset + (0 if one.is_absolute else start)} & wanted
    return ()


def _origin(die: DIE) -> DIE | None:
    for name in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if name in die.attributes:
            return die.get_DIE_from_attribute(name)
    return None


def _arguments(function: DIE, language: int) -> Arguments:
    """Of the DIEs that tell of the function, the one with most arguments."""
    most = 0
    die: DIE | None = function
    for _ in range(4):
        if die is None:
            break
        sizes = []
        for child in die.iter_children():
            if child.tag == "DW_TAG_unspecified_parameters":
                return Arguments(refusal="it takes any number of arguments (variadic)")
            if child.tag == "DW_TAG_formal_parameter":
                size = _size_of_argument(child)
                if size is None:
                    return Arguments(refusal=NO_DEBUG)
                sizes.append(size)
        most = max(most, sum(sizes) + _hidden(language, len(sizes)))
        die = _origin(die)
    stack = -(-most // WORD) * WORD
    if stack > MOST:
        return Arguments(refusal=f"its arguments have more than {MOST:,} bytes")
    return Arguments(stack)


def _hidden(language: int, count: int) -> int:
    """What may be passed beside: where a result goes; the lengths of Fortran's texts; C++'s flags
    and tables of constructors."""
    if language in _FORTRAN:
        return WORD * (count + 2)
    return WORD * (3 if language in _CXX else 1)


def _size_of_argument(parameter: DIE) -> int | None:
    for _ in range(4):
        if "DW_AT_type" in parameter.attributes:
            size = _size_of_type(parameter.get_DIE_from_attribute("DW_AT_type"))
            return None if size is None else -(-max(size, 1) // 16) * 16 if size > WORD else WORD
        origin = _origin(parameter)
        if origin is None:
            return None
        parameter = origin
    return None


def _size_of_type(die: DIE) -> int | None:
    for _ in range(MOST_TYPES):
        if die.tag in _WORDS:
            return WORD
        if die.tag == "DW_TAG_ptr_to_member_type":
            return 2 * WORD
        if die.tag == "DW_TAG_array_type":
            return _size_of_array(die)
        if _has_size(die):
            # Wide vectors in it may need that its place be aligned.
            size = die.attributes["DW_AT_byte_size"].value
            return size + 64 if size > 16 else size
        if "DW_AT_type" not in die.attributes:
            return None
        die = die.get_DIE_from_attribute("DW_AT_type")
    return None


def _has_size(die: DIE) -> bool:
    size = die.attributes.get("DW_AT_byte_size")
    return size is not None and isinstance(size.value, int) and 0 <= size.value <= MOST


def _size_of_array(die: DIE) -> int | None:
    """A vector of the processor (GCC's vector_size) is passed by value; other arrays, in languages
    that can, by their address."""
    if "DW_AT_GNU_vector" not in die.attributes:
        return WORD
    if _has_size(die):
        return die.attributes["DW_AT_byte_size"].value + 64
    element = _size_of_type(die.get_DIE_from_attribute("DW_AT_type"))
    if element is None:
        return None
    count = 1
    for child in die.iter_children():
        if child.tag == "DW_TAG_subrange_type":
            upper = child.attributes.get("DW_AT_upper_bound")
            if upper is None or not isinstance(upper.value, int):
                return None
            count *= upper.value + 1
    return element * count + 64 if count <= MOST else None
