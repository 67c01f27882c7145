"""Which compiler made code, and with which options, as debugging information tells."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.dwarfinfo import DWARFInfo

from headrace.elf.symbols import BROKEN, LARGEST_READ, opened


def producers(path: Path, addresses: Iterable[int]) -> dict[int, str]:
    """DW_AT_producer of the unit that has each address. Nothing of files without it, or of more
    than 64 MiB."""
    wanted = set(addresses)
    found: dict[int, str] = {}
    try:
        with opened(path) as elf:
            if path.stat().st_size > LARGEST_READ or not elf.has_dwarf_info():
                return {}
            dwarf = elf.get_dwarf_info()
            for unit, own in units_of(dwarf, wanted):
                producer = unit.get_top_DIE().attributes.get("DW_AT_producer")
                if producer is not None and isinstance(producer.value, bytes):
                    text = producer.value.decode("utf-8", "backslashreplace")
                    found.update(dict.fromkeys(own, text))
    except BROKEN:
        pass
    return found


def units_of(dwarf: DWARFInfo, wanted: set[int]) -> Iterator[tuple[CompileUnit, set[int]]]:
    """By the table of addresses, which GCC writes; without it by each unit's own ranges."""
    table = dwarf.get_aranges()
    left = set(wanted)
    if table is not None:
        by_unit: dict[int, set[int]] = {}
        for address in wanted:
            offset = table.cu_offset_at_addr(address)
            if offset is not None:
                by_unit.setdefault(offset, set()).add(address)
        for offset, own in by_unit.items():
            left -= own
            yield dwarf.get_CU_at(offset), own
    if not left:
        return
    for unit in dwarf.iter_CUs():
        ranges = list(_ranges(dwarf, unit))
        own = {one for one in left if any(low <= one < high for low, high in ranges)}
        if own:
            left -= own
            yield unit, own
        if not left:
            return


def _ranges(dwarf: DWARFInfo, unit: CompileUnit) -> Iterator[tuple[int, int]]:
    top = unit.get_top_DIE().attributes
    low, high = top.get("DW_AT_low_pc"), top.get("DW_AT_high_pc")
    base = low.value if low is not None else 0
    if low is not None and high is not None:
        yield base, high.value if high.form == "DW_FORM_addr" else base + high.value
    elif "DW_AT_ranges" in top and (lists := dwarf.range_lists()) is not None:
        for entry in lists.get_range_list_at_offset(top["DW_AT_ranges"].value, cu=unit):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                start = 0 if entry.is_absolute else base
                yield start + entry.begin_offset, start + entry.end_offset


def is_optimised(producer: str) -> bool | None:
    """None if it does not tell: GCC always writes its options; others only if they are asked to."""
    options = [word for word in producer.split() if word.startswith("-")]
    levels = [word for word in options if word.startswith("-O")]
    if levels:
        return levels[-1] != "-O0"
    is_gcc = producer.startswith("GNU ") and not producer.startswith(("GNU AS", "GNU GIMPLE"))
    return False if is_gcc and options else None
