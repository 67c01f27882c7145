"""How libraries are told an algorithm. The generated table has all of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Of a Choice: all sizes.
ALL_SIZES = (0, 0)
# The largest size: Intel MPI reads no larger one.
MOST_BYTES = (1 << 31) - 1


@dataclass(frozen=True)
class Library:
    """A library of spec/library_algorithms.toml, which says what each field means."""

    name: str
    form: str
    prefixes: tuple[str, ...]
    stand: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Knob:
    """A row of spec/library_algorithms.toml, which says what each field means. rule: 0 if it has
    none. sizes: "" if one choice is for all."""

    library: str
    operation: str
    variable: str
    algorithms: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)
    rule: int = 0
    sizes: str = ""
    covers: bool = False
    communicators: bool = False
    reduces: bool = False


@dataclass(frozen=True)
class Choice:
    """An operation goes by an algorithm from `least` to `most` bytes of one rank's block (bcast,
    allreduce, reduce: of all the data), or at ALL_SIZES. gain: how many times as fast, at the
    least."""

    operation: str
    algorithm: str
    least: int
    most: int
    gain: float

    @property
    def is_for_all_sizes(self) -> bool:
        return (self.least, self.most) == ALL_SIZES

    @property
    def shown(self) -> str:
        sizes = "all sizes" if self.is_for_all_sizes else f"{self.least} to {self.most} B"
        return f"{self.algorithm} for {sizes}, {self.gain:g} times as fast"
