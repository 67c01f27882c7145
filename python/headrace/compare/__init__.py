"""Records of before and after a change -> what changed, how much faster it is, and where. Pure.

Times are in nanoseconds here, as in the record. docs/compare.md has the formulas, with sources.
"""
