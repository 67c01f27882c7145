"""`headrace bench ior`."""

from headrace.commands.bench._program import program_command

ior = program_command("ior", "Writes and reads a file with IOR's options and layout.")
