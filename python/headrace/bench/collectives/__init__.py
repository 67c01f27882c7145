"""Collective operations: plain against Headrace."""
