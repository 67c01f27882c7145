"""Writes the repository's generated files from spec/ and the MPI standard's own description."""
