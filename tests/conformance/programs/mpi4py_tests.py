"""Runs mpi4py's tests; each rank writes what came of them, test by test, into a file of its own.

usage: mpi4py_tests.py TESTS RECORD ARGUMENTS...    (ARGUMENTS are those of mpi4py's test/main.py)
"""

from __future__ import annotations

import os
import sys
import unittest

sys.dont_write_bytecode = True


def make_result(record):
    """A result class that writes "NAME begun" and "NAME passed|failed|skipped" as it goes on."""

    class Result(unittest.TextTestResult):
        def _note(self, test, word: str) -> None:
            record.write(f"{test.id()} {word}\n")
            record.flush()

        def startTest(self, test) -> None:  # noqa: N802
            super().startTest(test)
            self._note(test, "begun")

        def addSuccess(self, test) -> None:  # noqa: N802
            super().addSuccess(test)
            self._note(test, "passed")

        def addError(self, test, error) -> None:  # noqa: N802
            super().addError(test, error)
            self._note(test, "failed")

        def addFailure(self, test, error) -> None:  # noqa: N802
            super().addFailure(test, error)
            self._note(test, "failed")

        def addSkip(self, test, reason) -> None:  # noqa: N802
            super().addSkip(test, reason)
            self._note(test, "skipped")

        def addSubTest(self, test, subtest, error) -> None:  # noqa: N802
            super().addSubTest(test, subtest, error)
            if error is not None:
                self._note(test, "failed")

        def addExpectedFailure(self, test, error) -> None:  # noqa: N802
            super().addExpectedFailure(test, error)
            self._note(test, "passed")

    return Result


def main() -> None:
    tests, path, *arguments = sys.argv[1:]
    sys.path.insert(0, tests)
    sys.argv[0] = os.path.join(tests, "main.py")
    from main import TestProgram

    rank = os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or "0"
    with open(f"{path}.{rank}", "w") as record:
        runner = unittest.TextTestRunner(verbosity=2, resultclass=make_result(record))
        TestProgram(module=None, testRunner=runner, argv=[sys.argv[0], "-v", *arguments])


if __name__ == "__main__":
    main()
