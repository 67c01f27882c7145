"""Records (.hrc) of runs: reading them, and writing their tables for other programs."""
