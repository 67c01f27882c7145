"""What bench/advice/gain.py runs: each flaw of tests/mpi/programs, and how it is mended."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "mpi" / "programs"
BAD, MENDED = "bad", "mended"

# It has no bound; its twin computes where the flawed one sleeps.
WITHOUT_GAIN = {"waiting-not-algorithm", "waiting-for-cores"}


@dataclass(frozen=True)
class Way:
    """One way to run: words before the program, its own words, settings, options of compilers."""

    words: tuple[str, ...]
    before: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ("-O1",)


@dataclass(frozen=True)
class Trial:
    """rule: whose bound is judged. name: unless it is the rule's. source: of PROGRAMS."""

    rule: str
    source: str
    bad: Way
    mended: Way
    ranks: int = 2
    name: str = ""
    is_sampled: bool = False
    has_remarks: bool = False


def _of_advised(case: str) -> Trial:
    return Trial(case, "advised.c", Way((case, "bad")), Way((case, "not")))


# Steps of each, so that the flawed one takes about a second.
_STEPS = {
    "unoptimised-code": 4000,
    "unvectorised-loop": 60000,
    "uneven-function": 6000,
    "allocation": 20000,
    "locks": 3000,
    "kernel-time": 400,
    "one-thread": 6000,
    "scalar-mathematics": 40000,
    "spinning-in-mpi": 4000,
}
_ON_TWO_RANKS = {"uneven-function", "spinning-in-mpi"}
_OPTIMISED = ("-O2", "-g", "-ftree-vectorize", "-pthread")


def _of_sampled(case: str) -> Trial:
    steps = str(_STEPS[case])
    worse = ("-O0", *_OPTIMISED[1:]) if case == "unoptimised-code" else _OPTIMISED
    more = {"HEADRACE_SAMPLING_SOURCE": "timer"} if case == "spinning-in-mpi" else {}
    return Trial(
        case,
        "sampled.c",
        Way((case, "bad", steps), settings=more, options=worse),
        Way((case, "mended", steps), settings=more, options=_OPTIMISED),
        2 if case in _ON_TWO_RANKS else 1,
        is_sampled=True,
        has_remarks=case == "unvectorised-loop",
    )


def _of_python() -> Trial:
    bad, mended = (Way((kind, "300")) for kind in ("bad", "mended"))
    return Trial("python-interpreter", "sampled.py", bad, mended, 1, is_sampled=True)


def _by_settings() -> list[Trial]:
    """Where Headrace, the launcher or a variable can act, the program stays as it is."""
    collectives = ("small-collectives", "bad", "100")
    meeting = ("meeting", "mended", "4000")
    return [
        Trial(
            "small-collectives",
            "advised.c",
            Way(collectives),
            Way(collectives, settings={"HEADRACE_COLLECTIVES": "1"}),
            name="small-collectives, by HEADRACE_COLLECTIVES=1",
        ),
        Trial(
            "same-core",
            "sampled.c",
            Way(meeting, ("taskset", "-c", "0"), options=_OPTIMISED),
            Way(meeting, ("taskset", "-c", "0,1"), options=_OPTIMISED),
            name="same-core, by two cores",
        ),
    ]


def trials() -> list[Trial]:
    advised = re.findall(r'^    \{"([a-z-]+)"', (PROGRAMS / "advised.c").read_text(), re.MULTILINE)
    return [
        *(_of_advised(case) for case in advised if case not in WITHOUT_GAIN),
        *map(_of_sampled, _STEPS),
        _of_python(),
        *_by_settings(),
    ]
