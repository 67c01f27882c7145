"""Records with random damage."""

import random
from functools import cache

import record_support as support
from record_support import JOB, front, section, small_job


@cache
def sound() -> bytes:
    return small_job().data()


def mutated(seed: int, mend: bool) -> bytes:
    """A record with some bytes changed, cut out or put in; mended: with checksums that fit."""
    chance = random.Random(seed)
    if mend:
        sections = small_sections()
        chosen = chance.randrange(len(sections))
        head, body = sections[chosen][:24], bytearray(sections[chosen][24:])
        _damage(body, chance)
        numbers = [int.from_bytes(head[at : at + 4], "little") for at in (4, 8, 12)]
        if chance.random() < 0.2:
            numbers[chance.randrange(3)] = chance.choice([0, 1, 2, 5, 2**31, JOB])
        made = section(*numbers, bytes(body))
        parts = [*sections[:chosen], made, *sections[chosen + 1 :]]
        end = section(JOB, JOB, len(parts), b"")
        return front(support.usual_schema()) + b"".join(parts) + end
    data = bytearray(sound())
    _damage(data, chance)
    return bytes(data)


@cache
def small_sections() -> list[bytes]:
    return small_job().sections()


def _damage(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(data) + 1)
        kind = chance.random()
        if kind < 0.6 and place < len(data):
            data[place] = chance.choice([0, 1, 2, 127, 128, 255, chance.randrange(256)])
        elif kind < 0.8:
            del data[place : place + chance.randrange(1, 9)]
        else:
            data[place:place] = chance.randbytes(chance.randrange(1, 9))
        if not data:
            return
