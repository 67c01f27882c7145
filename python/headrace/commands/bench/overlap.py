"""`headrace bench overlap`."""

from headrace.commands.bench._program import program_command

overlap = program_command(
    "overlap", "Transfers while the program computes: what both together cost."
)
