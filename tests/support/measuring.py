"""Judging times, which other programs on the machine change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Disturbed(AssertionError):
    """A time is not as it should be. pytest makes the test again (pyproject.toml, `only-rerun`): a
    fault is there each time."""


@contextmanager
def measuring() -> Iterator[None]:
    """What fails in it may be another program's doing. Only judgements of times belong here."""
    try:
        yield
    except AssertionError as error:
        raise Disturbed(str(error)) from error
