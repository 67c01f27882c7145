"""Starts strided_file.c on the nodes and reads what it prints."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from hosts import Host, headrace_library
from nodes.launching import launch_on_nodes
from processes import Processes
from running import compile_c, preload, shared_object

from headrace.bench.hand_set import HINT, hand_set_ways

PIECE = 10_000
SEGMENTS = 384
SECONDS = 120
# Waiting for other work, when a job is started by a command that waits for it.
QUEUE_SECONDS = 1500


@dataclass(frozen=True)
class Setting:
    """A way to write and read: with the layer or without, and what is set by hand."""

    name: str
    is_layered: bool = False
    program_way: str = "write+read"
    hints: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)


HEADRACE = Setting("Headrace", is_layered=True)
DEFAULT = Setting("default")
POSIX = Setting("POSIX, each piece", program_way="posix")


def hand_set(host: Host, ranks: int) -> list[Setting]:
    """What an expert would try with this MPI: the settings of `headrace bench peers`."""
    kind = host.name.removeprefix("debian-")
    settings = []
    for way in hand_set_ways(ranks):
        if kind not in way.kinds:
            continue
        hints = [f"{k.removeprefix(HINT)}={v}" for k, v in way.variables if k.startswith(HINT)]
        others = {key: value for key, value in way.variables if not key.startswith(HINT)}
        settings.append(Setting(way.label, hints=tuple(hints), variables=others))
    return settings


@dataclass(frozen=True)
class Told:
    """What a job printed: seconds by direction, wrong bytes, the hints in use."""

    seconds: dict[str, float]
    wrong: int
    hints: dict[str, str]


class JobFailed(RuntimeError):
    pass


class Jobs:
    """Jobs of `ranks_per_node` ranks on each of the cluster's nodes."""

    def __init__(self, processes: Processes, ranks_per_node: int, wrapper: str = "") -> None:
        self._run = processes
        self._per_node = ranks_per_node
        self._wrapper = shlex.split(wrapper)
        self.ranks = ranks_per_node * len(processes.nodes)
        self.bytes = self.ranks * PIECE * SEGMENTS

    def run(self, host: Host, setting: Setting, file, way: str = "") -> Told:
        """Errors: JobFailed when it does not end well."""
        program = compile_c(host, ["strided_file.c"], "strided_file")
        objects = [headrace_library()] if setting.is_layered else []
        if host.family.startswith("mpich"):
            objects.append(shared_object("yield_shim.c"))
        environment = preload(objects) | {"HEADRACE_QUIET": "1"} | setting.variables
        words = [program, way or setting.program_way, file, PIECE, SEGMENTS, *setting.hints]
        result = launch_on_nodes(
            host,
            self._run.cluster,
            words,
            environment,
            self._per_node,
            timeout=SECONDS + (QUEUE_SECONDS if self._wrapper else 0),
            wrapper=self._wrapper,
        )
        if result.code != 0:
            raise JobFailed(result.explain())
        lines = [line.split(" ", 2) for line in result.out.splitlines()]
        return Told(
            {words[1]: float(words[2]) for words in lines if words[0] == "seconds"},
            sum(int(words[1]) for words in lines if words[0] == "wrong"),
            {words[1]: words[2] for words in lines if words[0] == "hint" and len(words) == 3},
        )
