"""A Darshan log -> the findings that a record gives: pure functions. docs/report.md has what is
known, estimated and unknown."""
