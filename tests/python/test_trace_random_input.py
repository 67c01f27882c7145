"""Random changes of apa files and of object files: they are understood or refused with one line,
never a traceback, and no plan has a line that nobody asked for."""

import random
import re
from pathlib import Path

import pytest
from trace_support import compiled

from headrace.errors import HeadraceError
from headrace.profile.apa.plan import plan_of
from headrace.profile.apa.reading import read
from headrace.profile.apa.ways import Modules, choices

TIMES = 400
OBJECTS = 150
FILE = """program = "/nowhere/app"
[trace]
groups = ["math", "io"]
counters = "summary"
hooks = false
prologues = true
[[functions]]
name = "smooth"
module = "/nowhere/app"
share = 69.85
bytes = 123
way = "import"
trace = true
[[functions]]
name = "other"
"""
PIECES = [
    "",
    "\0",
    "é",
    "=",
    "[",
    "]",
    "'",
    '"',
    "\n",
    "#",
    ".",
    "1" * 5000,
    "[[",
    "\\u0000",
    "\\n",
]
LINE = re.compile(r"(import|hooks|nops|prologue|refused) [!-~]+( [!-~]+)*")


def test_apa_files(tmp_path: Path) -> None:
    path = tmp_path / "app.apa.toml"
    refused = 0
    for seed in range(TIMES):
        chance = random.Random(seed)
        place = chance.randrange(len(FILE))
        behind = FILE[place + chance.randrange(4) :]
        path.write_text(FILE[:place] + chance.choice(PIECES) + behind)
        try:
            apa, told = read(path)
            plan = plan_of(apa)
        except HeadraceError as error:
            assert "\n" not in str(error)
            refused += 1
            continue
        assert not any("\n" in line for line in told)
        assert all(LINE.fullmatch(line) for line in plan.text.splitlines()[1:])
    assert TIMES // 4 < refused < TIMES


@pytest.mark.parametrize("flags", [("-fpatchable-function-entry=5",), ("-finstrument-functions",)])
def test_object_files(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """Bytes of tables, of code and of debugging information changed, or the file cut."""
    data = compiled(tmp_path, "-g", *flags).read_bytes()
    for seed in range(OBJECTS):
        chance = random.Random(seed)
        changed = bytearray(data[: chance.randrange(1, len(data))] if seed % 5 == 0 else data)
        for _ in range(chance.choice((1, 8, 200))):
            # The tables of sections and segments lie at both ends.
            near = chance.choice((64, 4000, len(changed)))
            place = chance.randrange(min(near, len(changed)))
            changed[place if chance.random() < 0.6 else -1 - place] = chance.randrange(256)
        path = tmp_path / f"changed-{seed}"
        path.write_bytes(bytes(changed))
        modules = Modules([str(path)])
        own = modules.code(str(path)).functions[:20]
        for ways in choices(modules, str(path), own, prologues=True).values():
            for way in ways:
                assert bool(way.line) != bool(way.refusal)
                assert not way.line or LINE.fullmatch(way.line)
        path.unlink()
