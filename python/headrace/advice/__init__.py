"""Advice: rules as data, judged on a run's metrics."""
