"""`headrace simulate`: plays a collective write by several methods and shows what each takes."""

from pathlib import Path

import click
from rich.console import Console

from headrace.errors import unwritable
from headrace.places import try_whole
from headrace.simulate import figure
from headrace.simulate.output import show, write
from headrace.simulate.play import play

# Cray, "MPT updates", 2009: IOR on an XT5, blocks and transfers of 1,000,000 and 10,000 bytes.
PUBLISHED_PIECES = (1_000_000, 10_000)


def number(name: str, default: int, text: str, least: int = 1) -> object:
    return click.option(
        name, type=click.IntRange(min=least), default=default, show_default=True, help=text
    )


@click.command(short_help="Plays a collective write on a machine of any size and counts.")
@number("--ranks", 32, "Ranks of the job.")
@number("--ranks-per-node", 8, "Ranks on a node.")
@click.option(
    "--piece",
    "pieces",
    type=click.IntRange(min=1),
    multiple=True,
    default=PUBLISHED_PIECES,
    show_default=True,
    help="Bytes of a contiguous piece; several times for several jobs.",
)
@number("--pieces-per-call", 1, "Pieces that a rank writes in a call, those of all ranks in turn.")
@number("--calls", 3220, "Collective calls, one after the other in the file.")
@number("--stripes", 16, "Objects over which the file is striped.")
@number("--stripe-size", 1 << 20, "Bytes of a stripe.", 4096)
@number("--server-block", 1 << 20, "Bytes that a server writes without reading first.")
@number("--buffer", 1 << 20, "Bytes of an aggregator's buffer (cb_buffer_size).", 4096)
@number("--aggregators", 0, "Aggregators (cb_nodes); 0: as many as stripes.", 0)
@number("--multiplier", 0, "Aggregators for each stripe (cray_cb_nodes_multiplier).", 0)
@click.option(
    "--cost", "costs", multiple=True, metavar="NAME=VALUE", help="A cost of the estimate."
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all counts here.",
)
@click.option(
    "--figure",
    "prefix",
    type=click.Path(path_type=Path),
    help="Draw them as PREFIX.svg and PREFIX.png; needs matplotlib.",
)
def simulate(
    pieces: tuple[int, ...],
    costs: tuple[str, ...],
    json_file: Path | None,
    prefix: Path | None,
    **flags: int,
) -> None:
    """Play a collective write on a machine of any size: by each rank on its own, and by
    aggregators with each way to share the file out (cb_align). The plans are the engine's own;
    docs/simulate.md says what is counted, and how time is estimated.

    \b
    headrace simulate                             the job of Cray's published results
    headrace simulate --ranks 131072 --ranks-per-node 128 --stripes 512 --calls 3
    """
    if prefix is not None:
        figure.require()
    for file in (json_file, *(figure.files(prefix) if prefix is not None else ())):
        require_writable(file)
    flags["pieces"] = flags.pop("pieces_per_call")
    played = [play(_named({**flags, "piece": piece}), costs) for piece in pieces]
    show(Console(), played)
    if json_file is not None:
        write(json_file, played)
    if prefix is not None:
        figure.draw(played, prefix)


def require_writable(file: Path | None) -> None:
    """Before all is played."""
    try:
        if file is not None:
            try_whole(file)
    except OSError as error:
        raise unwritable(file, error, "give another name") from error


def _named(flags: dict[str, int]) -> dict[str, int]:
    return {name.replace("_", "-"): value for name, value in flags.items()}
