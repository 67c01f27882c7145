"""Programs that a sampling thread could harm: they must come through as if nobody sampled them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from measuring import measuring
from running import compile_program, launch, work_directory
from test_profile import SOURCES, sampled, share
from test_recorder import report_of

FLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-Werror"]


def run(host: Host, way: str, source: str, *more: str) -> Path:
    """Runs it sampled, and returns its record."""
    directory = work_directory(f"sampled-{host.name}-{way}-{source}")
    compiler = [*host.compilers["c"], "-lpthread", "-ldl"]
    program = compile_program(compiler, ["sampled_oddly.c"], f"sampled-oddly-{host.name}", FLAGS)
    result = launch(host, 1, [program, way, *more], True, sampled(directory, source))
    assert result.code == 0, result.explain()
    assert result.out.splitlines()[-1] == "ok", result.explain()
    (record,) = directory.glob("*.hrc")
    return record


@pytest.mark.parametrize("way", ["loads", "stacks", "memory", "descriptors", "threads"])
@pytest.mark.parametrize("source", SOURCES)
def test_nothing_of_it_changes(host: Host, library: Path, way: str, source: str) -> None:
    run(host, way, source)


@pytest.mark.parametrize("source", SOURCES)
def test_a_plug_in_in_the_place_of_another(host: Host, library: Path, source: str) -> None:
    plugins = [
        compile_program(
            ["gcc", "-shared", "-fPIC"],
            ["sampled_plugin.c"],
            f"sampled-{name}.so",
            [*FLAGS, f"-DNAME=work_{name}"],
        )
        for name in ("a", "b")
    ]
    report = report_of(run(host, "plugins", source, *map(str, plugins)))
    with measuring():
        assert share(report, "work_a") > 0.3
        assert share(report, "work_b") > 0.3
