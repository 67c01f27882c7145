"""How the ranks of a job start: on this node, or by a launcher line of the user's."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from headrace.bench.by_line import launch_by_line, nodes_of_line
from headrace.bench.collectives.findings import OTHER
from headrace.bench.programs import find_program
from headrace.bench.runner import Host, fair_settings, launch
from headrace.launch.values import Launch
from headrace.mpi.installed import version_in
from headrace.mpi.kinds import TITLES

PROGRAM = "collectives"
# What each library says of itself, as the core tells them apart; the first that fits.
SAYS = {"openmpi": r"\bOpen MPI\b", "intel": "Intel", "mpich": "MPICH"}


class Start(Protocol):
    """environ: of the command. own: variables for the ranks."""

    @property
    def title(self) -> str:
        """For messages about the job."""

    def launch(
        self, arguments: Sequence[str], environ: Mapping[str, str], own: Mapping[str, str]
    ) -> Launch:
        """The program with its arguments, and Headrace in its ranks."""

    def setup(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """What Setup has, by what the program has written."""


@dataclass(frozen=True)
class OnThisNode:
    """`ranks` ranks by the launcher of an MPI, each on a core of its own if there are enough."""

    host: Host
    ranks: int

    @property
    def title(self) -> str:
        return f"under {self.host.title} on {self.ranks} ranks"

    def launch(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        own: Mapping[str, str],
        preload: bool = True,
    ) -> Launch:
        """preload: False without Headrace."""
        command = [str(find_program(PROGRAM, self.host.name, environ)), *arguments]
        return launch(
            self.host, self.ranks, command, environ, preload=preload, variables=own, bind=True
        )

    def setup(self, document: Mapping[str, Any]) -> dict[str, Any]:
        settings = fair_settings(self.host, self.ranks, bind=True)
        return _setup(document, self.host.title, self.host.name, settings)


@dataclass(frozen=True)
class ByLine:
    """words: the launcher's line, without a program. mpi: of the ranks, if it does not tell."""

    words: tuple[str, ...]
    mpi: str

    @property
    def title(self) -> str:
        return f"in the job '{shlex.join(self.words)}'"

    def launch(
        self, arguments: Sequence[str], environ: Mapping[str, str], own: Mapping[str, str]
    ) -> Launch:
        # Ranks that all came to one node by mistake are not measured for minutes.
        several = ["--nodes", "2"] if nodes_of_line(self.words, environ) > 1 else []
        quiet = {"HEADRACE_RECORD": "0", **own}
        return launch_by_line(self.words, PROGRAM, [*arguments, *several], self.mpi, environ, quiet)

    def setup(self, document: Mapping[str, Any]) -> dict[str, Any]:
        says = document["MPI"]
        kind = library_of(says)
        title = f"{TITLES[kind]} {version_in(says)}".strip() if kind in TITLES else says
        return _setup(document, title, kind, f"started by {shlex.join(self.words)}")


def library_of(says: str) -> str:
    """The kind of an MPI library, by what it says of itself; OTHER if tables have none of it."""
    return next((kind for kind, pattern in SAYS.items() if re.search(pattern, says)), OTHER)


def _setup(document: Mapping[str, Any], title: str, kind: str, settings: str) -> dict[str, Any]:
    return {
        "mpi": title,
        "kind": kind,
        "ranks": document["ranks"],
        "nodes": document["nodes"],
        "node_ranks": document["node_ranks"],
        "node_sizes": document["node_sizes"],
        "crowded": document["crowded"],
        "settings": settings,
        "date": datetime.now(UTC).date().isoformat(),
    }
