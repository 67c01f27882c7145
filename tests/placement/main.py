"""Times jobs of 16 ranks on four emulated nodes in orders 0, 1 and the computed one, and prints a
table. By hand, as root."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from hosts import headrace_library, host_named
from least_traffic import least_between_nodes
from nodes.cluster import Cluster
from nodes.placed_jobs import PATTERNS, RANKS, SIZES, Jobs, Placed, predicted

MPIS = ("mpich", "openmpi", "intel")
ORDERS = {"1": "1", "0": "0", "computed": "auto"}
STEPS = 4
MIB = 1 << 20
HEAD = (
    "| MPI | pattern | order | MiB between nodes: predicted | of the least | on the wire "
    "| seconds | times as fast as order 1 |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev placement", description=__doc__)
    parser.add_argument("--mpi", action="append", choices=MPIS, help="this one; may be repeated")
    parser.add_argument("--rate", default="200mbit", help="at which each node sends (200mbit)")
    parser.add_argument("--runs", type=int, default=3, help="of each, the median counts (3)")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("placement: emulated nodes need root, run me as root", file=sys.stderr)
        return 1
    if headrace_library() is None:
        print("placement: libheadrace.so is not built, run ./dev build", file=sys.stderr)
        return 1
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, each node sends {options.rate}\n")
    print(HEAD)
    with Cluster(len(SIZES)) as cluster:
        cluster.limit(options.rate)
        for name in options.mpi or MPIS:
            host = host_named(name)
            if host.missing:
                print(f"placement: leaving out {name}: {host.missing}", file=sys.stderr)
                continue
            for pattern in PATTERNS:
                _measure(Jobs(host, cluster, pattern), name, pattern, options.runs)
    return 0


def _measure(jobs: Jobs, mpi: str, pattern: str, runs: int) -> None:
    idle = jobs.run("1", 0, recorded=False).wire
    found: dict[str, list[Placed]] = {order: [] for order in ORDERS}
    for _ in range(runs):  # in turn, so that a busy machine is as busy for all
        for order, asked in ORDERS.items():
            found[order].append(jobs.run(asked, STEPS))
    first = found["1"][0].record
    expected = predicted(first) if first is not None else {}
    least = STEPS * least_between_nodes(RANKS, jobs.messages, SIZES)
    seconds = {order: median(one.seconds for one in made) for order, made in found.items()}
    for order, made in found.items():
        carried = {one.between_nodes(jobs.messages, STEPS) for one in made}
        if carried != {expected[order]}:
            raise SystemExit(f"{mpi}, {pattern}, order {order}: {carried}, not {expected[order]}")
        wire = median(one.wire for one in made) - idle
        print(
            f"| {mpi} | {pattern} | {order} | {expected[order] / MIB:.1f} "
            f"| {expected[order] / least:.3f} | {wire / MIB:.1f} | {seconds[order]:.2f} "
            f"| {seconds['1'] / seconds[order]:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
