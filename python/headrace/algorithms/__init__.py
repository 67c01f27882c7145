"""Algorithms of MPI libraries for collective operations: how each is chosen, tables of them."""
