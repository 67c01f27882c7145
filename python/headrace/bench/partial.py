"""What was measured stays when an error or Ctrl-C ends the rest."""

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager

from headrace.errors import HeadraceError


@contextmanager
def kept(found: Sized, keep: Callable[[], None]) -> Iterator[None]:
    """A block that adds to `found`: `keep` is called at its end, and also if it ends early and
    something was found. It writes files before it shows anything: who reads that may be gone."""
    try:
        yield
    except (HeadraceError, KeyboardInterrupt):
        if len(found) > 0:
            keep()
        raise
    keep()
