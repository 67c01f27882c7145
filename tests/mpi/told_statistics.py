"""Reads the lines of HEADRACE_IO_STATS."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SIDE = (
    r"  {}: (\d+) collective calls, (\d+) independent ones, (\d+) bytes; \w+ storage: "
    r"(\d+) requests, (\d+) bytes.*"
)
REQUESTS = (
    r"    requests: (\d+) of (.+), (\d+) smaller, (\d+) not aligned to it, (\d+) repeated; "
    r"by (\d+) ranks? in collective calls, (\d+) in others(.*)"
)


@dataclass
class Side:
    """What was told of one direction."""

    collective: int
    independent: int
    bytes: int
    requests: int
    store_bytes: int
    of_unit: int = 0
    smaller: int = 0
    unaligned: int = 0
    repeated: int = 0
    aggregators: int = 0
    others: int = 0
    rest: str = ""


@dataclass
class Block:
    """What was told of one file, or of files of one rank."""

    head: str
    sides: dict[str, Side] = field(default_factory=dict)
    ranks: list[str] = field(default_factory=list)


def blocks_of(said: str) -> list[Block]:
    blocks: list[Block] = []
    for line in said.splitlines():
        text = line.removeprefix("headrace: ")
        if text.startswith("I/O of "):
            blocks.append(Block(text))
        for direction in ("writes", "reads"):
            if match := re.fullmatch(SIDE.format(direction), text):
                blocks[-1].sides[direction] = Side(*map(int, match.groups()))
                last = blocks[-1].sides[direction]
        if match := re.fullmatch(REQUESTS, text):
            last.of_unit, last.smaller, last.unaligned = (int(match[i]) for i in (1, 3, 4))
            last.repeated, last.aggregators, last.others = (int(match[i]) for i in (5, 6, 7))
            last.rest = match[8]
        if re.match(r"  (each of )?ranks? \d+", text):
            blocks[-1].ranks.append(text)
    return blocks
