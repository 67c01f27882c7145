"""Programs that are rough with their own files, which have buffers (HEADRACE_IOBUF): threads that
are cancelled or stopped, handlers that close files or jump out, descriptors that other processes
get. What they print is what they print without buffers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from running import compile_c, launch, work_directory

# What each prints.
WAYS = {
    "cancel-close": "cancelled",
    "cancel-copy": "returned",
    "cancel-write": "cancelled",
    "spawn": "header child tail |",
    "send": "header child tail |",
    "walk": "5",
    "map": "hello new",
    "vectors": "-1 invalid",
    "backtrace": "header tail",
    "vfork": "held back||",
    "handles": "3 ABCDE|",
    "end": "1",
    "append": "once|",
    "unseen": "unseen",
    "stopped": "fine",
    "reopened": "all there, broken 0",
    "truncated": "all there, broken 0",
    "stack": "all there, broken 0",
    "jumps": "others go on",
}


@pytest.mark.parametrize("buffers", [None, "*", "*:size=4k"])
@pytest.mark.parametrize("way", WAYS)
def test_answers_stay_the_same(host: Host, library: Path, way: str, buffers: str | None) -> None:
    place = work_directory(f"own-rough-{host.name}")
    program = compile_c(host, ["own_rough.c", "own_handlers.c"], "own-rough")
    given = {"HEADRACE_RECORD": "0", "HEADRACE_QUIET": "0"}
    given |= {} if buffers is None else {"HEADRACE_IOBUF": f"{place}/{buffers}"}
    result = launch(host, 1, [program, place, way], True, given)
    assert result.code == 0, result.explain()
    assert result.out.splitlines()[0] == WAYS[way], result.explain()
    assert "lost" not in result.err, result.explain()
