"""One number of the cost model."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """table: write, read or common. value: as it is built in; nanoseconds unless `doc` says
    otherwise."""

    table: str
    name: str
    value: float
    doc: str

    @property
    def key(self) -> str:
        return f"{self.table}.{self.name}"
