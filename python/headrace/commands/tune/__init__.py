"""`headrace tune`: what to set on this machine, by measuring."""

import click

from headrace.commands import CommandFolder, names


class TuneFolder(CommandFolder):
    """`headrace tune DIR` is `headrace tune io DIR`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*names(__name__), *self.get_help_option_names(ctx)):
            args = ["io", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=TuneFolder,
    package=__name__,
    epilog="headrace tune DIR is short for headrace tune io DIR.",
)
def tune() -> None:
    """Measure on this machine, and write what should be set."""
