"""`headrace bench strided`."""

from headrace.commands.bench._program import program_command

strided = program_command(
    "strided", "Writes blocks into a filled file and counts what else was overwritten."
)
