"""Traced functions where it is hard to know whose calls are whose, and in odd programs."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hosts import Host
from running import compile_program, launch, work_directory
from test_traced import (
    CODE,
    WAYS,
    Traced,
    functions_of,
    made_library,
    planned,
    require_same,
    traced_and_counted,
)

LINKED = {
    "usual": [],
    "no separate code": ["-Wl,-z,noseparate-code"],
    "at a fixed place": ["-no-pie", "-fno-pie"],
    "at a fixed place, no separate code": ["-no-pie", "-fno-pie", "-Wl,-z,noseparate-code"],
    "no slots for calls": ["-fno-plt"],
    "bound at once": ["-Wl,-z,now"],
    "bound late": ["-Wl,-z,lazy", "-fcf-protection=none"],
    "bound late, for branch tracking": ["-Wl,-z,lazy", "-Wl,-z,ibtplt", "-fcf-protection=full"],
}


def built(host: Host, source: str, linked: str = "usual") -> Path:
    library = made_library("slots")
    compiler = [*host.compilers["c"], f"-l:{library.name}", "-lstdc++", "-lpthread"]
    place_free = [one for one in CODE if one != "-fPIC"]
    flags = [*place_free, *LINKED[linked], f"-L{library.parent}", "-std=gnu++20"]
    flags += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    name = f"{source.partition('.')[0]}-{host.name}-{linked.replace(' ', '-').replace(',', '')}"
    return compile_program(compiler, [source], name, flags)


def run(
    host: Host, way: str, program: Path, *what: str, **more: str
) -> tuple[dict[str, Traced], Counter[str]]:
    """What the record says, and what the program counted."""
    directory = work_directory(f"{program.name}-{way}-{'-'.join(what)}")
    names = functions_of(made_library(way))
    settings = planned(host, way, directory, names) | more
    result = launch(host, 1, [program, *what], True, settings)
    assert result.code == 0, result.explain()
    assert "wrong" not in result.out and result.out.count("ok") == 1, result.explain()
    return traced_and_counted(result.out, directory, way, names)


@pytest.mark.parametrize("what", ["forks", "clones"])
@pytest.mark.parametrize("way", WAYS)
def test_children_of_which_nobody_is_told(host: Host, library, way: str, what: str) -> None:
    traced, counted = run(host, way, built(host, "traced_rough.cc"), what)
    require_same(traced, counted, way)
    assert all(one.unended == 0 for one in traced.values())


@pytest.mark.parametrize("way", WAYS)
def test_a_signal_stack_within_the_stack(host: Host, library, way: str) -> None:
    """The handler's calls may be left alone; those that it interrupts must have their time."""
    traced, counted = run(host, way, built(host, "traced_rough.cc"), "inner")
    require_same(traced, counted, way)
    assert all(one.unended == 0 for one in traced.values())
    assert traced["traced_busy"].time >= 0.1e9
    if "traced_calls_back" in counted:
        assert traced["traced_calls_back"].time >= traced["traced_busy"].time


@pytest.mark.parametrize("way", WAYS)
def test_signals_while_a_thread_sets_up(host: Host, library, way: str) -> None:
    run(host, way, built(host, "traced_rough.cc"), "early")


@pytest.mark.parametrize("way", WAYS)
def test_recording_is_switched_off_within_a_call(host: Host, library, way: str) -> None:
    traced, counted = run(host, way, built(host, "traced_rough.cc"), "switched")
    require_same(traced, counted, way)


@pytest.mark.parametrize("bound", ["now", "lazy"])
@pytest.mark.parametrize("flags", [0, os.RTLD_DEEPBIND])
@pytest.mark.parametrize("way", WAYS)
def test_a_library_with_its_own_scope(
    host: Host, library, way: str, flags: int, bound: str
) -> None:
    traced_library = made_library("slots")
    parts = [f"-L{traced_library.parent}", "-shared", f"-Wl,-z,{bound}"]
    compiler = ["gcc", f"-l:{traced_library.name}"]
    inner = compile_program(compiler, ["traced_inner.c"], f"libinner-{bound}.so", [*CODE, *parts])
    program = built(host, "traced_rough.cc")
    more = {"TRACED_INNER": str(inner), "TRACED_FLAGS": str(flags)}
    traced, counted = run(host, way, program, "scope", **more)
    require_same(traced, counted, way)


@pytest.mark.parametrize("linked", LINKED)
@pytest.mark.parametrize("way", WAYS)
def test_addresses_stay_the_same(host: Host, library, way: str, linked: str) -> None:
    traced, counted = run(host, way, built(host, "traced_addresses.cc", linked))
    if way == "slots" and linked == "no slots for calls" and not traced["traced_nothing"].calls:
        del counted["traced_nothing"]  # the compiler may take its address out of the loop
    require_same(traced, counted, way)
    # Where a program lies at a fixed place, hooks are told of its own stub for the function.
    if way == "nops" or (way == "hooks" and "fixed" not in linked):
        assert traced["traced_calls_back"].calls == 30
