"""A record -> tables and findings: pure functions, which see neither files nor the terminal.

Times are in nanoseconds here, as in the record. docs/report.md has the formulas, with sources.
"""
