"""What all tests share."""

import signal
import sys


def pytest_configure() -> None:
    # As from a keyboard interrupt: fixtures, mounts and launched programs are cleaned up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
