"""Sets up real shared file systems for emulated nodes, runs jobs on them, takes all away again."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from ceph import Ceph
from document import write_document
from file_system import FileSystem
from gluster import Gluster
from hosts import Host, headrace_library, host_named
from jobs import DEFAULT, HEADRACE, PIECE, SEGMENTS, Jobs
from machine import describe, what_is_missing
from measure import Measurement
from nodes.cluster import Cluster
from processes import SERVER, Processes

FILE_SYSTEMS: dict[str, type[FileSystem]] = {"cephfs": Ceph, "glusterfs": Gluster}
MPIS = ("mpich", "openmpi", "intel")
PARTS = ("data", "counts", "times")
SHAPES = {"4x2": (4, 2), "2x4": (2, 4)}


def main() -> int:
    options = _options()
    problem = what_is_missing()
    library = headrace_library()
    if not problem and (library is None or not library.exists()):
        problem = "libheadrace.so is not built, run ./dev build"
    if problem:
        print(f"clusterfs: {problem}", file=sys.stderr)
        return 1
    # Being ended takes the nodes away, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results = json.loads(options.json.read_text()) if options.json.exists() else {}
    results["machine"] = describe() | {"piece": PIECE, "segments": SEGMENTS}
    good = True
    for name in options.file_system or FILE_SYSTEMS:
        for shape in options.shape or SHAPES:
            good = _run(name, shape, options, results) and good
    options.json.parent.mkdir(parents=True, exist_ok=True)
    if options.document:
        write_document(options.document, results)
    return 0 if good else 1


def _run(name: str, shape: str, options: argparse.Namespace, results: dict) -> bool:
    node_count, ranks_per_node = SHAPES[shape]
    cell = results.setdefault(f"{name} {shape}", {})
    cell |= {"date": time.strftime("%Y-%m-%d"), "what": FILE_SYSTEMS[name].what}
    try:
        with Cluster(node_count, [SERVER]) as cluster:
            processes = Processes(cluster)
            processes.tell(f"{node_count} nodes are up; {ranks_per_node} ranks on each")
            file_system = FILE_SYSTEMS[name](processes)
            file_system.start()
            jobs = Jobs(processes, ranks_per_node, options.wrapper)
            cell["bytes"] = jobs.bytes
            measurement = Measurement(processes, file_system, jobs, cell)
            good = True
            for part in options.part or PARTS:
                processes.tell(f"{file_system.name}, {shape}: {part}")
                good = _PARTS[part](measurement, _hosts(options), options) and good
                _save(options.json, results)
            processes.tell("taking nodes, servers and files away")
            return good
    # Of the nodes, of a command on them, of a job; nodes and servers are gone already.
    except RuntimeError as failed:
        print(f"clusterfs: {name}, {shape} did not run to its end:\n{failed}", file=sys.stderr)
        return False


def _data(measurement: Measurement, hosts: list[Host], options: argparse.Namespace) -> bool:
    return all([measurement.check_data(host) for host in hosts])


def _counts(measurement: Measurement, hosts: list[Host], options: argparse.Namespace) -> bool:
    measurement.count_serial()
    for host in hosts:
        for setting in (HEADRACE, DEFAULT):
            measurement.count(host, setting)
    return True


def _times(measurement: Measurement, hosts: list[Host], options: argparse.Namespace) -> bool:
    for _ in range(options.rounds):
        for host in hosts:
            measurement.time_round(host, with_posix=host.name == "mpich")
    return True


_PARTS = {"data": _data, "counts": _counts, "times": _times}


def _hosts(options: argparse.Namespace) -> list[Host]:
    hosts = [host_named(name) for name in options.mpi or MPIS]
    for host in hosts:
        if host.missing:
            print(f"clusterfs: leaving out {host.name}: {host.missing}", file=sys.stderr)
    return [host for host in hosts if not host.missing]


def _save(path: Path, results: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(".new")
    written.write_text(json.dumps(results, indent=1) + "\n")
    os.replace(written, path)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev clusterfs", description=__doc__)
    several = {"action": "append", "help": "may be repeated; all without it"}
    parser.add_argument("--file-system", choices=list(FILE_SYSTEMS), **several)
    parser.add_argument("--mpi", choices=MPIS, **several)
    parser.add_argument("--shape", choices=list(SHAPES), **several)
    parser.add_argument("--part", choices=PARTS, **several)
    parser.add_argument("--rounds", type=int, default=12, help="of timed jobs, each way once (12)")
    parser.add_argument(
        "--json",
        type=Path,
        default=Path("build/clusterfs.json"),
        help="results; what is there already is added to (build/clusterfs.json)",
    )
    parser.add_argument("--document", type=Path, help="write the results into this Markdown file")
    parser.add_argument(
        "--wrapper",
        default="",
        metavar="COMMAND",
        help="starts each MPI job, for machines where such jobs must wait their turn",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
