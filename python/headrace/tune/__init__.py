"""Measures a file system: figures -> costs -> a profile."""
