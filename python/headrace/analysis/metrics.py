"""Numbers of a run by name, for rules. A name ends in its unit: _seconds, _bytes, _share (of one),
_ratio, _per_second; others are counts. None: not measured. docs/advice.md#metrics lists them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import median

from headrace.analysis.calls import Totals
from headrace.analysis.costs import Bound, Cost, collective_time
from headrace.analysis.files import File, by_rank
from headrace.analysis.numbers import cores_of
from headrace.analysis.run import Run
from headrace.analysis.waiting import Waits
from headrace.record.tables import Record

NS = 1e9
Metrics = dict[str, float | None]

# Of samples (profile/costs.py): what each rank spends in one matter.
SAMPLED = ("allocation", "locks", "libm", "python", "kernel", "one_thread", "mpi_cpu")
SAMPLED += ("unoptimised", "unvectorised", "reference_blas")
_OF_SAMPLED = ("seconds", "greatest_seconds", "share")
_OF_SAMPLED += ("bound_lower_seconds", "bound_upper_seconds")
_NOT_SAMPLED = "the run was not sampled (headrace profile)"
_WHY_NOT = {
    "unoptimised": "the run was not sampled, or what its hot code was compiled with is not known "
    "(-g, and the files on this machine)",
    "unvectorised": "the run was not sampled, or no remarks of its compilers were given "
    "(--feedback)",
}
PROFILE_COSTS = {
    **{
        f"{name}_{what}": _WHY_NOT.get(name, _NOT_SAMPLED)
        for name in SAMPLED
        for what in _OF_SAMPLED
    },
    **dict.fromkeys(
        (
            *("uneven_seconds", "uneven_average_seconds", "uneven_greatest_seconds"),
            *("uneven_bound_upper_seconds", "uneven_share", "busy_threads_ratio"),
            "cores_per_rank_ratio",
        ),
        _NOT_SAMPLED,
    ),
}

# Known if the MPI library told its limit.
EAGER = (
    "eager_limit_bytes",
    *(f"sends_above_eager_{what}" for what in ("calls", "ranks", "per_second", "bytes")),
    *(f"sends_above_eager_{what}" for what in _OF_SAMPLED),
)

# What rules ask for and no record has yet: why.
ABSENT = {
    "run_queue_seconds": "the record does not have how long ranks waited for a core",
    "minor_faults_per_second": "the record does not have page faults",
    "major_faults_per_second": "the record does not have page faults",
    **dict.fromkeys(
        EAGER,
        "the MPI library does not tell which messages wait for their receiver",
    ),
    "computed_on_node_share": "no better order of ranks was computed",
    "file_stripes": "the record does not have the stripes of files",
    "misaligned_share": "the record does not have where requests begin",
    **dict.fromkeys(
        (
            *("sick_target", "sick_target_ratio", "sick_target_files", "sick_target_seconds"),
            *("sick_target_median_seconds", "other_targets_median_seconds"),
            *("sick_target_longest_seconds", "other_targets_longest_seconds"),
        ),
        "the record does not have times by storage target",
    ),
    **dict.fromkeys(
        ("files", "io_bytes_read", "io_bytes_written", "io_ranks", "io_greatest_rank_share"),
        "the record has no table of files",
    ),
    **dict.fromkeys(
        (
            *("read_amplification_ratio", "write_amplification_ratio", "exchange_share"),
            *("unasked_read_bytes", "unasked_read_ratio", "io_waiting_share"),
            "io_waiting_seconds",
        ),
        "the record does not have what Headrace moved for files",
    ),
    "opens_per_rank_ratio": "the record has no table of files",
    "free_memory_bytes": "the record does not have the free memory of nodes",
    **PROFILE_COSTS,
}

# Whose ranks HEADRACE_CART_REORDER numbers anew.
_TOPOLOGIES = ("MPI_Cart_create", "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent")


def metrics(
    record: Record, run: Run, totals: Totals, waits: Waits, by_cost: Mapping[str, Cost],
    files: Iterable[File],
) -> Metrics:  # fmt: skip
    outside = _outside(run, totals)
    found: Metrics = dict.fromkeys(ABSENT)  # until it is known
    found |= _of_run(run, totals, waits, outside)
    found |= _of_nodes(run, outside)
    found |= _of_messages(record, run)
    found["topology_calls"] = sum(
        sums.calls for name, sums in totals.procedures.items() if name in _TOPOLOGIES
    )
    found |= _of_files(record, list(files), run, has_io="io" in by_cost and by_cost["io"].calls > 0)
    for name, cost in by_cost.items():
        found |= _of_cost(name, cost, run)
    return found


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _outside(run: Run, totals: Totals) -> dict[int, float]:
    return {
        one.rank: max(0, one.run - one.mean_of_threads(totals.in_run.get(one.rank, 0))) / NS
        for one in run.ranks
    }


def _of_run(run: Run, totals: Totals, waits: Waits, outside: Mapping[int, float]) -> Metrics:
    count = len(run.ranks)
    whole = sum(one.run for one in run.ranks)
    average = sum(outside.values()) / count if count else 0.0
    greatest = max(outside.values(), default=0.0)
    first = outside.get(0)
    others = [time for rank, time in outside.items() if rank != 0]
    ends = totals.procedures["MPI_Finalize"].by_rank if "MPI_Finalize" in totals.procedures else {}
    around = [one.init + ends.get(one.rank, 0) for one in run.ranks]
    collective = collective_time(run, totals)
    least = waits.total.least if waits.procedures else None
    return {
        "ranks": run.count,
        "nodes": run.nodes,
        "is_open_mpi": float(run.mpi.startswith("Open MPI")),
        "run_seconds": run.elapsed / NS if count else None,
        "outside_average_seconds": average if count else None,
        "outside_greatest_seconds": greatest if count else None,
        "imbalance_seconds": greatest - average if count else None,
        "load_balance_share": _ratio(average, greatest),
        "rank0_excess_seconds": None if first is None else first - average,
        "others_greatest_seconds": max(others, default=None),
        "in_mpi_share": _ratio(whole - sum(outside.values()) * NS, whole) if count else None,
        "start_end_seconds": min(around, default=None) and min(around) / NS,
        "collective_wait_lower_share": None if least is None else _ratio(least, collective),
        "collective_wait_lower_seconds": None if least is None else _ratio(least / NS, count),
        "recorder_seconds": max((one.recorder for one in run.ranks), default=0) / NS,
    }


def _of_nodes(run: Run, outside: Mapping[int, float]) -> Metrics:
    by_node: dict[int, list[float]] = defaultdict(list)
    masks: dict[int, list[set[int] | None]] = defaultdict(list)
    for one in run.ranks:
        by_node[one.node].append(outside[one.rank])
        masks[one.node].append(cores_of(one.cores))
    means = sorted(sum(times) / len(times) for times in by_node.values())
    highest = sorted(max(times) for times in by_node.values())
    known = [node for node in masks.values() if None not in node]
    crowded = [len(node) / len(set().union(*node)) for node in known]
    shared = [
        count
        for node in known
        for count in Counter(frozenset(mask) for mask in node if len(mask) == 1).values()
    ]
    busy = [sum(max(1, one.threads) for one in run.ranks if one.node == node) for node in masks]
    allowed = [len(set().union(*node)) for node in known]
    return {
        "slowest_node_ratio": _ratio(means[-1], median(means)) if means else None,
        "slowest_node_seconds": highest[-1] - highest[-2] if len(highest) > 1 else None,
        "ranks_per_core_ratio": max(crowded, default=None) if len(known) == len(masks) else None,
        "ranks_on_one_core": max(shared, default=1) if known else None,
        "used_cores_share": _ratio(sum(busy), sum(allowed)) if len(known) == len(masks) else None,
    }


def _of_messages(record: Record, run: Run) -> Metrics:
    """What ranks send themselves is left out, as it is of orders of ranks (place/graph.py)."""
    node_of = {one.rank: one.node for one in run.ranks}
    peers: dict[int, set[int]] = defaultdict(set)
    total = away = 0
    for node in record.nodes:
        for rank, peer, _, sent in node["matrix"].rows("rank", "peer", "messages", "sent"):
            if peer < 0 or peer == rank:
                continue
            peers[rank].add(peer)
            total += sent
            away += sent if node_of.get(peer) != node_of.get(rank) else 0
    return {
        "most_peers": max(map(len, peers.values()), default=0),
        "off_node_share": _ratio(away, total) if total else 0.0,
        "message_bytes": total,
    }


_OF_FILES = ("files", "io_bytes_read", "io_bytes_written", "io_ranks", "io_greatest_rank_share")
_OF_FILES += ("read_amplification_ratio", "write_amplification_ratio", "exchange_share")
_OF_FILES += ("opens_per_rank_ratio", "io_waiting_share")
_OF_FILES += ("io_waiting_seconds", "unasked_read_bytes", "unasked_read_ratio")


def _of_files(record: Record, files: list[File], run: Run, has_io: bool) -> Metrics:
    """All unknown if there was I/O but the record has no file."""
    if has_io and not files:
        return dict.fromkeys(_OF_FILES)
    moved: Counter[int] = Counter()
    for node in record.nodes:
        for rank, read, written in node["files"].rows("rank", "read", "written"):
            moved[rank] += read + written
    read, written = sum(one.read for one in files), sum(one.written for one in files)
    phases = sum(one.exchange + one.wait + one.copy + one.store for one in files)
    waited = sum(one.wait for one in files)
    of_ranks = sum(run.means(by_rank(record, "wait")).values())
    return {
        "files": len(files),
        "io_bytes_read": read,
        "io_bytes_written": written,
        "io_ranks": sum(1 for size in moved.values() if size),
        "io_greatest_rank_share": _ratio(max(moved.values(), default=0), sum(moved.values()))
        or 0.0,
        **amplification(files),
        "io_waiting_share": _ratio(waited, phases),
        "io_waiting_seconds": of_ranks / NS / max(1, len(run.ranks)),
        "exchange_share": _ratio(sum(one.exchange for one in files), phases),
        "opens_per_rank_ratio": opens_per_rank(files),
    }


def opens_per_rank(files: Iterable[File]) -> float:
    """Of the file that each rank opened most often."""
    return max((one.opens / max(1, one.ranks) for one in files), default=0.0)


def amplification(files: list[File]) -> Metrics:
    """Bytes that were moved against those that were asked. Unasked: read from files that the
    program only wrote, as who changes a part of a block or stripe must read it first."""
    changed = [one for one in files if one.written and not one.read]
    told = [one for one in changed if one.store_read is not None]
    unasked = sum(one.store_read for one in told)
    is_known = bool(told) or not changed
    written = sum(one.written for one in told)
    return {
        "read_amplification_ratio": _amplification(files, "read"),
        "write_amplification_ratio": _amplification(files, "written"),
        "unasked_read_bytes": unasked if is_known else None,
        "unasked_read_ratio": (unasked / written if told else 0.0) if is_known else None,
    }


def _amplification(files: list[File], what: str) -> float | None:
    """Bytes that were moved for those that were asked. 1 where nothing was asked."""
    if not any(getattr(one, what) for one in files):
        return 1.0
    told = [one for one in files if getattr(one, f"store_{what}") is not None]
    asked = sum(getattr(one, what) for one in told)
    return _ratio(sum(getattr(one, f"store_{what}") for one in told), asked)


def _of_cost(name: str, cost: Cost, run: Run) -> Metrics:
    return cost_metrics(
        name,
        run,
        total=sum(cost.by_rank.values()),
        greatest=max(cost.by_rank.values(), default=0),
        ranks=sum(1 for time in cost.by_rank.values() if time),
        calls=cost.calls,
        moved=cost.bytes,
        bound=cost.bound,
    )


def cost_metrics(
    name: str, run: Run, total: float, greatest: float, ranks: int, calls: int, moved: int,
    bound: Bound,
) -> Metrics:  # fmt: skip
    """total, greatest: ns. ranks: that had a part in it."""
    count = max(1, len(run.ranks) or run.count)
    rank_seconds = run.elapsed / NS * count
    return {
        f"{name}_seconds": total / NS / count,
        f"{name}_greatest_seconds": greatest / NS,
        f"{name}_share": _ratio(total, run.rank_time),
        f"{name}_calls": calls,
        f"{name}_ranks": ranks,
        f"{name}_per_second": calls / rank_seconds if rank_seconds else None,
        f"{name}_bytes": moved,
        f"{name}_bound_lower_seconds": bound.lower / NS,
        f"{name}_bound_upper_seconds": bound.upper / NS,
    }
