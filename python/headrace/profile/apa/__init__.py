"""Automatic profiling analysis: samples -> an editable file that says what to trace -> a plan for
the library."""
