"""`headrace bench irregular`."""

from headrace.commands.bench._program import program_command

irregular = program_command(
    "irregular", "Writes and reads random disjoint pieces by one collective call."
)
