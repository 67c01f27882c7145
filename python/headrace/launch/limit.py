"""A limit that grows with the job. The generated table has all of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """A row of spec/limits.toml, which says what each field means. most: 0 if `value` is no formula
    of numbers."""

    variable: str
    mpis: tuple[str, ...]
    value: str
    action: str
    prevents: str
    least: int = 0
    most: int = 0
    on: str = ""
