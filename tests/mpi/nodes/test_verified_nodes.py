"""HEADRACE_VERIFY on two emulated nodes: another node reads back what was written, by messages."""

from __future__ import annotations

import pytest
from hosts import host_named
from running import compile_c, shared_object, work_directory
from test_verify import BYTES, PLACES, SOURCES, WAYS, owner, told

from .launching import launch_on_nodes
from .test_nodes import cluster

__all__ = ["cluster"]

RANKS = 4
# These go on by themselves, so that they cannot send messages: they are left out, and named.
UNCHECKED = {"nonblocking", "split"}


@pytest.mark.parametrize("corrupts", [False, True], ids=["right", "corrupting"])
def test_verifies_on_two_nodes(corrupts: bool, cluster, library) -> None:
    host = host_named("mpich")
    place = work_directory(f"nodes-verify-{corrupts}")
    program = compile_c(host, SOURCES, "verified_writes")
    objects = [*([shared_object("corrupting_store.c")] if corrupts else []), library]
    environment = {
        "LD_PRELOAD": ":".join(map(str, objects)),
        "HEADRACE_VERIFY": "1",
        "CORRUPT_NAME": ".verified",
        "CORRUPT_AT": str(PLACES[RANKS]),
    }
    result = launch_on_nodes(host, cluster, [program, place], environment)
    assert result.code == 0, result.explain()
    lines = told(result)
    assert set(lines) == {(way, rank) for way in WAYS for rank in range(RANKS)}, result.explain()
    for (way, rank), (written, count, closed, text) in lines.items():
        if not corrupts or way in UNCHECKED:
            assert (written, count, closed) == ("SUCCESS", BYTES, "SUCCESS"), result.explain()
            continue
        loser, position = owner(way, RANKS)
        if rank != loser:
            assert (written, closed) == ("SUCCESS", "IO"), result.explain()
            continue
        assert (written, count) == ("IO", position // 4 * 4 if way == "external32" else position)
        assert f"bytes {PLACES[RANKS]} to {PLACES[RANKS]} of" in text, text
    assert "NOT verified: 1.5 MiB by 2 calls (nonblocking and split calls on several" in result.err
    found = f"{len(WAYS - UNCHECKED)} ranges were NOT" if corrupts else "no difference"
    assert found in result.err, result.explain()
