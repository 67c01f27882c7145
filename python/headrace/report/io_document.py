"""The part `io` of the JSON."""

from collections.abc import Mapping
from typing import Any

from headrace.analysis.accesses import Access, Flow, UsedFile, known_sum
from headrace.analysis.analyse import Findings
from headrace.analysis.families import Family, families, spread
from headrace.analysis.files import File, Storage
from headrace.analysis.heat_map import LAYERS, HeatMap
from headrace.analysis.targets import Target
from headrace.report.units import NS, in_seconds


def io_document(found: Findings) -> dict[str, Any]:
    flows = found.flows
    return {
        "files": [_file(one) for one in found.used_files],
        "families": [_family(one) for one in families(found.used_files)],
        "targets": [_target(one) for one in found.targets],
        "flow": flows and {"read": _flow(flows.read), "written": _flow(flows.written)},
        "heat_map": _heat_map(found.heat_map),
        "rings": flows and flows.rings,
        "mapped_bytes": flows and flows.mapped,
    }


def _family(one: Family) -> dict[str, Any]:
    def bounds(what: str) -> dict[str, int | None]:
        found = spread(one, what)
        return {"total": found.total, "least": found.least, "greatest": found.greatest}

    time = bounds("time")
    return {
        "name": one.name,
        "files": len(one.files),
        "ranks": one.ranks,
        "interface": one.files[0].interface,
        "opens": bounds("opens"),
        "reads": bounds("reads"),
        "writes": bounds("writes"),
        "bytes_read": bounds("read"),
        "bytes_written": bounds("written"),
        "seconds": {name: in_seconds(value) for name, value in time.items()},
    }


def _heat_map(one: HeatMap | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "bin_seconds": one.width / NS,
        "bins": one.bins,
        "joined": one.is_joined,
        "rows": [
            {
                "rank": row.rank,
                "ranks": row.ranks,
                **{
                    layer: {
                        "bytes_read": row.read[layer],
                        "bytes_written": row.written[layer],
                    }
                    for layer in LAYERS
                },
            }
            for row in one.rows
        ],
    }


def _target(one: Target) -> dict[str, Any]:
    return {
        "index": one.index,
        "files": one.files,
        "bytes": one.bytes,
        "median_file_seconds": one.median / NS,
        "longest_file_seconds": one.longest / NS,
        "median_bytes_per_second": NS / one.per_byte,
    }


def _flow(one: Flow) -> dict[str, Any]:
    return {
        "mpi_bytes": one.mpi,
        "posix_bytes": one.posix,
        "stdio_bytes": one.stdio,
        "store_bytes": one.store,
        "other_bytes": one.other,
        "system_bytes": one.system,
        "device_bytes": one.device,
        "seen_share": one.seen_share,
    }


def _file(one: UsedFile) -> dict[str, Any]:
    """What the program asked for at all layers together, then each layer by itself."""
    mpi, parts = one.mpi, one.parts

    def total(name: str) -> int:
        return sum(getattr(each, name) for each in parts)

    def seconds_of_mpi(name: str) -> float | None:
        return None if mpi is None else in_seconds(getattr(mpi, name))

    return {
        "name": one.name,
        "ranks": max(each.ranks for each in parts),
        "opens": total("opens"),
        "bytes_read": total("read"),
        "bytes_written": total("written"),
        "store_bytes_read": _stored(one, "read"),
        "store_bytes_written": _stored(one, "written"),
        "reads": total("reads"),
        "writes": total("writes"),
        "collective_reads": 0 if mpi is None else mpi.collective_reads,
        "collective_writes": 0 if mpi is None else mpi.collective_writes,
        "seconds": in_seconds(one.time),
        "exchange_seconds": seconds_of_mpi("exchange"),
        "wait_seconds": seconds_of_mpi("wait"),
        "copy_seconds": seconds_of_mpi("copy"),
        "store_seconds": in_seconds(_store(one)),
        "interface": one.interface,
        "mpi": _mpi(mpi),
        "posix": _posix(one.posix),
        "stdio": _stdio(one.stdio),
    }


def _store(one: UsedFile) -> int | None:
    """ns. The program's own calls move bytes themselves."""
    of_mpi = None if one.mpi is None else one.mpi.store
    return known_sum([of_mpi, *(each.time for each in (one.posix, one.stdio) if each is not None)])


def _stored(one: UsedFile, what: str) -> int | None:
    """Bytes to or from the file system. Of streams they are not known, as these have buffers."""
    moved = [getattr(one.mpi, f"store_{what}")] if one.mpi is not None else []
    moved += [getattr(one.posix, what)] if one.posix is not None else []
    return known_sum(moved)


def _mpi(one: File | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "opens": one.opens,
        "reads": one.reads,
        "writes": one.writes,
        "bytes_read": one.read,
        "bytes_written": one.written,
        "seconds": in_seconds(one.time),
        "storage": _storage(one, one.storage),
    }


def _storage(file: File, one: Storage | None) -> dict[str, Any] | None:
    if one is None or file.store_read is None or file.store is None:
        return None
    return {
        "unit_bytes": one.unit,
        "reads": _requests(one.reads, one.read_aggregators),
        "writes": _requests(one.writes, one.write_aggregators),
        "unasked_bytes_read": max(file.store_read - file.read, 0),
        "write_gaps": one.write_gaps,
        "write_gap_bytes": one.write_gap_bytes,
        "open_seconds": in_seconds(one.open_time),
        "close_seconds": in_seconds(one.close_time),
        "meet_seconds": in_seconds(one.meet),
        "send_seconds": in_seconds(one.send),
        "read_seconds": in_seconds(one.store_read_time),
        "write_seconds": in_seconds(file.store - one.store_read_time),
    }


def _requests(counts: Mapping[str, int], aggregators: int) -> dict[str, int]:
    return {
        "requests": counts["requests"],
        "in_collective_calls": counts["collective"],
        "aggregators": aggregators,
        "of_unit": counts["unit"],
        "smaller": counts["small"],
        "unaligned": counts["unaligned"],
        "repeated_calls": counts["repeated"],
    }


def _stdio(one: Access | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "ranks": one.ranks,
        "opens": one.opens,
        "reads": one.reads,
        "writes": one.writes,
        "seeks": one.seeks,
        "syncs": one.syncs,
        "bytes_read": one.read,
        "bytes_written": one.written,
        "read_bins": one.read_bins,
        "write_bins": one.write_bins,
        "read_seconds": in_seconds(one.read_time),
        "write_seconds": in_seconds(one.write_time),
        "other_seconds": in_seconds(one.other_time),
    }


def _posix(one: Access | None) -> dict[str, Any] | None:
    stdio = _stdio(one)
    if one is None or stdio is None:
        return None
    return {
        **stdio,
        "maps": one.maps,
        "mapped_bytes": one.mapped,
        "sequential_reads": one.sequential_reads,
        "consecutive_reads": one.consecutive_reads,
        "sequential_writes": one.sequential_writes,
        "consecutive_writes": one.consecutive_writes,
        "unaligned": one.unaligned,
        "block_bytes": one.block or None,
        "furthest_read": one.furthest_read,
        "furthest_written": one.furthest_written,
    }
