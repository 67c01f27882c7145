"""mpi4py's own tests, from its source distribution, under the mpi4py wheel of each MPI."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from case import FAILED, PASSED, SKIPPED, Case, Run, Verdicts
from hosts import Host

PROGRAM = Path(__file__).resolve().parent / "programs" / "mpi4py_tests.py"
RANKS = (1, 2, 3)
# Parts, so that a crash or a hang in one does not hide the others: modules in, modules out.
IO = "test_file|test_io"
COMPLETION = "test_request|test_grequest|test_status|test_threads|test_p2p|test_cco_nb|test_cco_pr"
PROCESSES = "test_spawn|test_dynproc|test_util_pool"
PARTS = {
    "io": (IO, ""),
    "completion": (COMPLETION, ""),
    "rest": ("", f"{IO}|{COMPLETION}|{PROCESSES}|test_package|test_toplevel|test_doc"),
}
SEVERITY = (PASSED, SKIPPED, FAILED)


def mpi4py_cases(host: Host, source: Path) -> Iterator[Case]:
    for part, (inside, outside) in PARTS.items():
        for ranks in RANKS if part == "io" else RANKS[:2]:
            arguments = ["-i", inside] if inside else []
            arguments += ["-e", outside] if outside else []
            program = [host.python, PROGRAM, source / "test", "record", *arguments]
            yield Case(f"{part}-np{ranks}", ranks, program, _judge, timeout=240)


def _judge(run: Run) -> Verdicts:
    """A test that a rank began and did not end has failed; so has one that failed on any rank."""
    verdicts: Verdicts = {}
    for rank in range(run.case.ranks):
        path = run.directory / f"record.{rank}"
        one = _read(path) if path.exists() else {}
        for name, word in one.items():
            worst = max(word, verdicts.get(name, PASSED), key=SEVERITY.index)
            verdicts[name] = worst
    return {f"{run.case.name}/{name}": word for name, word in verdicts.items()} or {
        run.case.name: FAILED
    }


def _read(path: Path) -> Verdicts:
    """The worst word said of each test; of one that was only begun, that it failed."""
    said: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        name, word = line.rsplit(" ", 1)
        said.setdefault(name, []).append(word)
    ends = {name: [word for word in words if word != "begun"] for name, words in said.items()}
    return {
        name: max(words, key=SEVERITY.index) if words else FAILED for name, words in ends.items()
    }
