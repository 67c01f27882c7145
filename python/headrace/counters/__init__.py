"""Counts of events of a record -> rates and ratios."""
