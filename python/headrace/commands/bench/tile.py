"""`headrace bench tile`."""

from headrace.commands.bench._program import program_command

tile = program_command(
    "tile", "Writes and reads subarrays of an n-dimensional array by one collective call."
)
