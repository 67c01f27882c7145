"""The settings, HEADRACE_* variables: what they may be, and what they are in a run, from where."""
