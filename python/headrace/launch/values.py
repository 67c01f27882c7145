"""What is launched, and what its ranks are given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PRELOAD = "LD_PRELOAD"


@dataclass(frozen=True)
class RankEnvironment:
    """What every rank must find in its environment; `preload` is a library's path or None."""

    preload: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


NOTHING = RankEnvironment()


@dataclass(frozen=True)
class Launch:
    """What to execute. `executable` is argv[0]'s file where that is a bare name. notes: what was
    decided about it, for people; explained: what else, for who asks; algorithms: of the library.
    file: what the line names and has to be written first."""

    argv: list[str]
    environ: dict[str, str]
    executable: str = ""
    notes: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    file: tuple[Path, str] | None = None
