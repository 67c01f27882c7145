"""The groups of tests that ./dev test runs, and what each needs."""

from __future__ import annotations

from dataclasses import dataclass

from devtool import debian, provision
from devtool.provision import Layer


@dataclass(frozen=True)
class Group:
    """Tests that one runner runs, in `jobs` processes side by side: most wait more than they work.
    How long they take is only told: no machine is too slow."""

    name: str
    what: str
    paths: tuple[str, ...]  # pytest's; none: ctest runs the tests labelled `name`
    needs: tuple[debian.Need, ...]
    layers: tuple[Layer, ...] = ()
    ignored: tuple[str, ...] = ()
    jobs: int = 1


ALL_MPI = (*provision.WHEELS.values(), *provision.MPI4PY.values())
# These build everything anew.
BUILDS = ("tests/repository/test_wheel.py", "tests/repository/test_package.py")
GROUPS = (
    Group(
        "repository",
        "rooms, generated files, libheadrace.so's needs, style",
        ("tests/repository",),
        debian.PYTHON_TESTS,
        ignored=BUILDS,
        jobs=2,
    ),
    Group("unit", "each room without an MPI", (), debian.COUNTS, jobs=2),
    Group("sim", "the engine on threads as ranks", (), debian.UNIT_TESTS, jobs=2),
    Group(
        "python",
        "the command line, launching, reports",
        ("tests/python",),
        debian.PAGE_TESTS,
        ALL_MPI,
        jobs=3,
    ),
    Group(
        "mpi",
        "programs with and without the layer, every MPI",
        ("tests/mpi",),
        debian.MPI_TESTS,
        ALL_MPI,
        ("tests/mpi/nodes", "tests/mpi/faults"),
        jobs=3,
    ),
    Group(
        "faults",
        "failing stores, poor machines, sudden ends; three MPIs",
        ("tests/mpi/faults",),
        debian.MPI_TESTS,
        ALL_MPI,
        jobs=3,
    ),
    Group(
        "nodes",
        "emulated nodes",
        ("tests/mpi/nodes",),
        debian.NODE_TESTS,
        ALL_MPI,
        jobs=3,
    ),
    Group(
        "wheel",
        "builds from nothing, installs, works",
        BUILDS,
        debian.PYTHON_TESTS,
    ),
)
