"""Remarks of compilers, which are input from outside: what they did to which line, and why not."""
