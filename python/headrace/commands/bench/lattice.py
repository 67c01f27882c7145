"""`headrace bench lattice`."""

from headrace.commands.bench._program import program_command

lattice = program_command(
    "lattice", "Exports and imports a 4-D lattice field by one collective call."
)
