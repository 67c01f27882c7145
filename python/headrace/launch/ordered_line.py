"""A launcher's line with its ranks in an order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headrace.launchers.families import ALPS, PALS, SLURM, Family

# Set by the modules of Cray's MPI, whose PMI refuses srun's own orders.
CRAY = ("CRAY_MPICH_VERSION", "CRAY_MPICH_VER", "CRAY_MPICH_DIR")


@dataclass(frozen=True)
class Ordered:
    """A line that starts ranks in an order. variables: for the launcher and the ranks. file: its
    path and text, to be written before the line is executed."""

    line: list[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    file: tuple[Path, str] | None = None


def is_crays(family: Family, environ: Mapping[str, str]) -> bool:
    """Whether Cray's MPI puts ranks in order itself."""
    return family in (ALPS, PALS) or (family is SLURM and any(environ.get(name) for name in CRAY))
