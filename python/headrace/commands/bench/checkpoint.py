"""`headrace bench checkpoint`."""

from headrace.commands.bench._program import program_command

checkpoint = program_command(
    "checkpoint", "A time-step loop of several variables: the first call and the later ones."
)
