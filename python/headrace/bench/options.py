"""Options that several commands have."""

from collections.abc import Callable
from typing import Any

import click

from headrace.bench.programs import CHOICES


def mpi_option(help_text: str) -> Callable[[Any], Any]:
    """--mpi NAME, passed on as `wanted`."""
    return click.option(
        "--mpi",
        "wanted",
        type=click.Choice(CHOICES),
        default="mpich",
        show_default=True,
        help=help_text,
    )
