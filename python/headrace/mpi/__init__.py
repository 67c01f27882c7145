"""The MPIs of a machine: which there are, which a program uses, and which one is chosen."""
