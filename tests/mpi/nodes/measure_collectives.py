"""Times of collective operations between emulated nodes whose links are slow, by the command that
users type: plain calls and Headrace's in turns within one job. Needs root.

    python tests/mpi/nodes/measure_collectives.py --mpi mpich --rate 100mbit --json m.json
    python tests/mpi/nodes/measure_collectives.py --sizes 3,1,2,2 --rate none --json m.json
    python tests/mpi/nodes/measure_collectives.py --dealt --json m.json -- --batches 10
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "support"), str(TESTS.parents[1] / "python")]

from hosts import host_named  # noqa: E402

from nodes.cluster import Cluster  # noqa: E402
from nodes.launching import headrace_environment, launcher_line  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--ranks", type=int, default=2, help="of each node")
    parser.add_argument("--sizes", help="ranks of each node, if they differ: 3,1,2,2")
    parser.add_argument("--dealt", action="store_true", help="ranks are dealt round the nodes")
    parser.add_argument("--rate", default="100mbit", help="of a node's link, as tc(8) has it; none")
    parser.add_argument("--json", required=True)
    parser.add_argument("flags", nargs="*", help="of headrace bench collectives")
    given = parser.parse_args()
    host = host_named(given.mpi)
    even = [given.ranks] * given.nodes
    sizes = [int(one) for one in given.sizes.split(",")] if given.sizes else even
    with Cluster(len(sizes)) as cluster:
        if given.rate != "none":
            cluster.limit(given.rate)
        line = launcher_line(host, cluster, sizes, given.dealt)
        words = ["bench", "collectives", "--always", "--json", given.json, *given.flags]
        command = [sys.executable, "-m", "headrace", *words, "--mpi", host.name, "--", *line]
        return subprocess.run(
            cluster.login_command(command), env=headrace_environment(host), check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
