"""Numbers of a Darshan log by name, for rules: those of analysis/metrics.py, as far as they are
known, and for each of the others why it is not."""

from collections.abc import Mapping, Sequence

from headrace.analysis import metrics as of_records
from headrace.analysis.costs import NAMES as COSTS
from headrace.analysis.darshan.costs import Cost, moved
from headrace.analysis.darshan.outer import OneFile, is_stream
from headrace.analysis.files import File
from headrace.analysis.metrics import EAGER, NS, PROFILE_COSTS, Metrics, cost_metrics
from headrace.analysis.run import Run
from headrace.analysis.targets import Placed, Slowest
from headrace.darshan.log import Log, Use

LARGE_FILE = 1 << 30
MANY_WRITERS = 3
_COST_ENDS = (
    *("seconds", "greatest_seconds", "share", "calls", "ranks", "per_second", "bytes"),
    *("bound_lower_seconds", "bound_upper_seconds"),
)
_NO = "a Darshan log does not have"
_WHY = {
    f"{_NO} how long ranks computed": (
        *("outside_average_seconds", "outside_greatest_seconds", "imbalance_seconds"),
        *("load_balance_share", "rank0_excess_seconds", "others_greatest_seconds"),
        *("slowest_node_ratio", "slowest_node_seconds"),
    ),
    f"{_NO} MPI communication": (
        *("in_mpi_share", "start_end_seconds", "collective_wait_lower_share"),
        *("collective_wait_lower_seconds", "most_peers", "off_node_share", "message_bytes"),
        *("computed_on_node_share", "topology_calls"),
        *EAGER,
    ),
    f"{_NO} on which nodes and cores ranks ran": (
        *("nodes", "ranks_per_core_ratio", "ranks_on_one_core", "used_cores_share"),
    ),
    f"{_NO} which MPI it was": ("is_open_mpi",),
    f"{_NO} CPU time and memory": (
        *("run_queue_seconds", "minor_faults_per_second"),
        *("major_faults_per_second", "free_memory_bytes"),
    ),
    "nothing was recorded by Headrace": ("recorder_seconds",),
    f"{_NO} exchange and waiting apart": ("exchange_share",),
    f"{_NO} samples of CPU time": tuple(PROFILE_COSTS),
}
_WHY_COST = {
    "io_sync": f"{_NO} how long ranks waited for synchronised data",
    "io_shared_pointer": f"{_NO} which calls use a shared file pointer",
    "off_cpu": f"{_NO} CPU time and memory",
    "system": f"{_NO} CPU time and memory",
    "io_exchange": f"{_NO} exchange and waiting apart",
    "balance": f"{_NO} how long ranks computed",
}
_WHY_FILES = {
    "the log has no file that was opened by MPI-IO, with all that POSIX did for it": (
        *("read_amplification_ratio", "write_amplification_ratio", "unasked_read_bytes"),
        *("unasked_read_ratio", "io_waiting_share", "io_waiting_seconds"),
    ),
    "the log has not five files on each of three storage targets": (
        *("sick_target", "sick_target_ratio", "sick_target_files", "sick_target_seconds"),
        *("sick_target_median_seconds", "other_targets_median_seconds"),
        *("sick_target_longest_seconds", "other_targets_longest_seconds"),
    ),
    "the log does not have the stripes of files": ("file_stripes",),
    "the log has no requests by POSIX": ("misaligned_share",),
}


def absent() -> dict[str, str]:
    """Why a metric may be unknown."""
    found = {name: why for why, names in (_WHY | _WHY_FILES).items() for name in names}
    for cost in COSTS:
        why = _WHY_COST.get(cost, f"{_NO} MPI communication")
        found |= {f"{cost}_{end}": why for end in _COST_ENDS}
    return found


def metrics(
    log: Log, run: Run, every: Sequence[OneFile], files: Sequence[File],
    by_cost: Mapping[str, Cost], targets: tuple[Sequence[Placed], Slowest | None],
) -> Metrics:  # fmt: skip
    found: Metrics = dict.fromkeys(absent())
    found |= {"ranks": log.ranks, "run_seconds": log.elapsed / NS if log.elapsed else None}
    for name, one in by_cost.items():
        found |= cost_metrics(
            name,
            run,
            total=one.spread.total,
            greatest=one.spread.greatest,
            ranks=one.spread.taking_part,
            calls=one.calls,
            moved=one.bytes,
            bound=one.bound(log.elapsed),
        )
    found |= _of_files(log, every, files)
    found |= _of_layers(log, files)
    found |= _of_targets(targets[1])
    if log.stripes:
        found["file_stripes"] = _stripes(log, files)
    return found


def _of_files(log: Log, every: Sequence[OneFile], files: Sequence[File]) -> Metrics:
    spread = moved(log, every, _moved_bytes)
    total = spread.total
    syncs = sum(use.count("SYNCS", "FSYNCS", "FDSYNCS") or 0 for use in log.uses)
    found: Metrics = {
        "files": len({one.name for one in files if not is_stream(one.name)}),
        "io_bytes_read": sum(one.read for one in files),
        "io_bytes_written": sum(one.written for one in files),
        "io_ranks": spread.taking_part,
        "io_greatest_rank_share": spread.greatest / total if total else 0.0,
        "opens_per_rank_ratio": of_records.opens_per_rank(files),
        "io_sync_calls": syncs,
    }
    if not syncs:
        found |= {f"io_sync_{end}": 0 for end in _COST_ENDS}
    requests, wrong = 0, 0
    for use in log.uses:
        if use.interface == "POSIX" and "FILE_NOT_ALIGNED" in use.counters:
            requests += use.count("READS", "WRITES") or 0
            wrong += use.counters["FILE_NOT_ALIGNED"]
    if requests:
        found["misaligned_share"] = wrong / requests
    return found


def _moved_bytes(use: Use) -> int:
    return use.count("BYTES_READ", "BYTES_WRITTEN") or 0


def _of_layers(log: Log, files: Sequence[File]) -> Metrics:
    """Of files that were opened by MPI-IO, and of which it is known what POSIX did for them."""
    layered = [one for one in files if one.interface == "MPI-IO" and one.store_read is not None]
    timed = [one for one in layered if one.time and one.store is not None]
    if not layered:
        return {}
    time = sum(one.time for one in timed)
    between = sum(max(0, one.time - one.store) for one in timed)
    found = of_records.amplification(layered)
    if time:
        found |= {
            "io_waiting_share": between / time,
            "io_waiting_seconds": between / NS / log.ranks,
        }
    return found


def _stripes(log: Log, files: Sequence[File]) -> int:
    """Of the file with most bytes that several ranks write; 0 if there is no large one."""
    shared = [
        one
        for one in files
        if one.name in log.stripes and one.ranks > MANY_WRITERS and one.written >= LARGE_FILE
    ]
    largest = max(shared, key=lambda one: one.written, default=None)
    return len(log.stripes[largest.name]) if largest else 0


def _of_targets(found: Slowest | None) -> Metrics:
    if found is None:
        return {}
    one = found.target
    return {
        "sick_target": one.index,
        "sick_target_ratio": found.ratio,
        "sick_target_files": one.files,
        "sick_target_median_seconds": one.median / NS,
        "other_targets_median_seconds": found.others_median / NS,
        "sick_target_longest_seconds": one.longest / NS,
        "other_targets_longest_seconds": found.longest_elsewhere / NS,
        "sick_target_seconds": max(0.0, (one.longest - found.longest_elsewhere) / NS),
    }
