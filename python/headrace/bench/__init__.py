"""Benchmarks: the programs of bench/, run under an MPI with and without the layer."""
