"""./dev conformance: fetches what other people's suites need and starts tests/conformance."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from devtool import building, debian, provision, sources
from devtool.paths import ROOT
from devtool.prepared import run_prepared
from devtool.provision import Layer
from devtool.sources import Source
from devtool.steps import run_steps

RUNNER = ROOT / "tests" / "conformance" / "main.py"


@dataclass(frozen=True)
class Needed:
    """What a suite of tests/conformance/suites.py needs on this machine."""

    debian: tuple[debian.Need, ...] = ()
    layers: tuple[Layer, ...] = tuple(provision.WHEELS.values())
    sources: tuple[Source, ...] = ()


SUITES = {
    "mpi4py": Needed(
        layers=(*provision.WHEELS.values(), *provision.MPI4PY.values()), sources=(sources.MPI4PY,)
    ),
    "romio": Needed((*debian.MPI_TESTS, debian.PERL), sources=(sources.MPICH,)),
    "mpich": Needed((*debian.MPI_TESTS, debian.PERL), sources=(sources.MPICH,)),
    "mpich-coll": Needed(debian.MPI_TESTS, sources=(sources.MPICH,)),
    "hdf5": Needed((*debian.MPI_TESTS, *debian.HDF5), ()),
    "hdf5-own": Needed((*debian.MPI_TESTS, *debian.HDF5), (), (sources.HDF5,)),
    "h5py": Needed((*debian.MPI_TESTS, *debian.H5PY), ()),
    "pnetcdf": Needed((*debian.MPI_TESTS, *debian.PNETCDF), ()),
    "netcdf": Needed((*debian.MPI_TESTS, *debian.NETCDF), ()),
    "adios": Needed((*debian.MPI_TESTS, *debian.ADIOS), ()),
}


def run(arguments: Sequence[str]) -> int:
    """Prepares the suites that `arguments` choose and runs them. Returns the exit code."""
    return run_prepared(RUNNER, arguments, lambda: _prepare(arguments))


def _prepare(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--suite", action="append")
    wanted = parser.parse_known_args(arguments)[0].suite or list(SUITES)
    chosen = [SUITES[name] for name in wanted if name in SUITES]
    needs = [need for suite in chosen for need in suite.debian]
    debian.ensure([*debian.BUILD, *needs])
    building.prepare([*provision.BUILD, *(layer for suite in chosen for layer in suite.layers)], ())
    run_steps(sources.pending(source for suite in chosen for source in suite.sources))
