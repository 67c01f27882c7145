"""From which size on messages wait for their receiver: what is shown and recorded is what the
library does, as far as it tells."""

from __future__ import annotations

import re

import pytest
from hosts import Host
from running import Result, compile_c, launch, work_directory
from test_recorder import report_of

# Where the library tells it: the variable that says so, as the library and the environment have it.
TELLS = {
    "mpich": ("MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD",) * 2,
    "mpich-abi": ("MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD",) * 2,
    "openmpi": ("btl_sm_eager_limit", "OMPI_MCA_btl_sm_eager_limit"),
    "debian-openmpi": ("btl_vader_eager_limit", "OMPI_MCA_btl_vader_eager_limit"),
}
SHOWN = re.compile(r"messages (within a node|between nodes) wait for .* than (\d+) bytes \((\w+)\)")
MOVED = 3000


def limits(result: Result) -> dict[str, tuple[int, str]]:
    """As they are shown: bytes and variable."""
    return {where: (int(size), name) for where, size, name in SHOWN.findall(result.err)}


def observed(result: Result) -> dict[int, str]:
    """What each size's messages did."""
    pairs = (line.split(" ", 1) for line in result.out.splitlines() if line[:1].isdigit())
    return {int(size): what for size, what in pairs}


@pytest.mark.parametrize("chosen", [None, MOVED])
def test_what_is_told_is_what_happens(host: Host, chosen: int | None, library) -> None:
    name, variable = TELLS.get(host.name, ("", ""))
    if chosen and not name:
        pytest.skip("it does not tell its limit")
    directory = work_directory(f"eager-limits-{host.name}-{chosen}")
    program = compile_c(host, ["eager_limit.c"], f"eager_limit-{host.name}")
    environment = {"HEADRACE_EAGER_DISPLAY": "1", "HEADRACE_QUIET": "0", "HEADRACE_RECORD": "1"}
    environment |= {"HEADRACE_LOGPATH": str(directory)} | (
        {variable: str(chosen)} if chosen else {}
    )
    expected = chosen or (8192 if name.startswith("MPIR") else 4096)
    small = expected // 4 if name.startswith("MPIR") else 64  # others wait where they lack room
    sizes = [small, expected + 1, 4 * expected] if name else []
    result = launch(host, 2, [program, directory / "ended", *sizes], True, environment)
    assert result.code == 0, result.explain()
    assert "threads as provided\n" in result.out, result.explain()
    (record,) = directory.glob("*.hrc")
    told = report_of(record)["mpi"]["eager"]
    if not name:
        assert "within a node" not in limits(result), result.explain()
        assert "does not tell from which size on messages within a node" in result.err
        assert told["node_limit"] is None and told["sends_that_waited"] is None
        return
    assert limits(result)["within a node"] == (expected, name), result.explain()
    assert told["node_limit"] == {"bytes": expected, "variable": name}
    assert observed(result) == dict(zip(sizes, ["at once", "waits", "waits"], strict=True))
    least, most = told["sends_that_waited"].values()
    # Two sizes waited, at each of five attempts; the bin of the limit holds smaller ones, too.
    assert least <= 2 * 5 <= most < told["sends"], told
