"""Starts the command, and tells which of the Python packages that it needs is not there."""

import importlib
import sys
from typing import NoReturn

from headrace.errors import NOT_FOUND, message, say

# By what they are imported as: what pip installs.
_PACKAGES = {
    "click": "click",
    "elftools": "pyelftools",
    "jinja2": "jinja2",
    "numpy": "numpy",
    "rich": "rich",
}


def main() -> NoReturn:
    """Runs `headrace`. pip brings what it needs; other installers may not."""
    try:
        importlib.import_module("headrace.cli").main()
    except ModuleNotFoundError as error:
        package = _PACKAGES.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        remedy = f"type {sys.executable} -m pip install {package}, or load a module that has it"
        say(message(f"the Python package {package} is missing", f"of {sys.executable}", remedy))
        sys.exit(NOT_FOUND)
