"""Samples of a record -> where the CPU time went: functions, lines, callers."""
