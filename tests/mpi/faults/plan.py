"""Cases of failing stores as data, the plan that fault_job carries out, and what must hold."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from dataclasses import dataclass

RANK_BYTES = 100_000
SOURCES = [
    "fault_job.c",
    "fault_data.c",
    "fault_limits.c",
    "harness.c",
    "harness_calls.c",
    "harness_data.c",
]

CLASS_OF = {
    "EIO": "IO",
    "ENOSPC": "NO_SPACE",
    "EDQUOT": "QUOTA",
    "EFBIG": "IO",
    "ESTALE": "IO",
    "EACCES": "ACCESS",
    "EPERM": "ACCESS",
    "EROFS": "READ_ONLY",
    "ENOMEM": "NO_MEM",
    "ENOENT": "NO_SUCH_FILE",
    "EMFILE": "NO_MEM",
}
# The calls are made again until they succeed.
PASSING = {"EINTR", "EAGAIN"}


@dataclass(frozen=True)
class Transfer:
    """How bytes go: the method's name in fault_job, and the shape of the ranks' places."""

    how: str
    shape: str

    @property
    def name(self) -> str:
        return f"{self.how}-{self.shape}"


TRANSFERS = (
    Transfer("at_all", "blocks"),
    Transfer("all", "turns"),
    Transfer("all", "holes"),
    Transfer("plain", "holes"),
    Transfer("split-all", "turns"),
    Transfer("iall", "turns"),
    Transfer("iat", "blocks"),
    Transfer("ordered", "blocks"),
)
"""Direct, staged in whole windows, staged with gaps, lone pieces, and what goes on by itself."""


@dataclass(frozen=True)
class Case:
    """One fault. call: the store's call that meets it; error: errno's name, empty for none; rest:
    further words of the plan (fault_job.c); within: the step of a call that has none of its own,
    "memory"; must_meet: whether a run in which no call met the fault
    is a mistake of the test. fails: the classes that a step may have, for cases of their own rules;
    is_lasting: later steps may fail so, too; loses_data: what was written before may not reach the
    disk, so that sync must tell it on all ranks; is_gone: nobody can look at the file afterwards;
    is_cut: another call cuts the file at that moment, and where a read is under way Linux may give
    zeros as if the file had them (ext4 of 6.18: a full count from pread, in 1 of 10,000).
    """

    name: str
    writes: bool
    transfer: Transfer
    call: str
    error: str = ""
    rest: str = ""
    within: str = ""
    fails: tuple[str, ...] | None = None
    must_meet: bool = True
    is_lasting: bool = False
    loses_data: bool = False
    is_gone: bool = False
    is_cut: bool = False
    takes_room_again: bool = False

    def line(self) -> str:
        words = [self.name, f"dir={'write' if self.writes else 'read'}"]
        words += [f"how={self.transfer.how}", f"shape={self.transfer.shape}"]
        words += [f"bytes={RANK_BYTES}"]
        words += [f"call={self.call}"] if self.call else []
        words += [f"in={self.within}"] if self.within else []
        words += [f"error={getattr(errno, self.error)}"] if self.error else []
        return " ".join([*words, self.rest]).rstrip()

    def row(self) -> str:
        """Its row in the table."""
        if self.within:
            return f"{self.call} in {self.within}: {self.error}"
        what = self.error or re.sub(r"=\S+", "", self.rest.split()[-1])
        return f"{self.call or 'write'}: {what}"

    def classes(self) -> set[str]:
        """What the failing step may say, success left out."""
        if self.fails is not None:
            return set(self.fails)
        return {CLASS_OF[self.error]} if self.error in CLASS_OF else set()


STEPS = (
    *("open", "view", "hints", "transfer", "sync", "again"),
    *("size", "resize", "allocate", "close"),
)
STEP_OF = {"read": "transfer", "write": "transfer", "delete": "close", "": "transfer"}

Facts = dict[str, str]


def read_facts(output: str) -> dict[str, list[Facts]]:
    """By case, a dictionary for each rank."""
    facts: dict[str, list[Facts]] = {}
    for line in output.splitlines():
        words = [word.split("=", 1) for word in line.split()[1:] if "=" in word]
        if words:
            facts.setdefault(line.split()[0], []).append(dict(words))
    return facts


def judge(case: Case, ranks: list[Facts], size: int) -> Iterable[str]:
    """What is wrong, in a sentence each."""
    if len(ranks) != size or any("hangs" in facts for facts in ranks):
        yield "not all ranks came back"
        return
    if case.must_meet and case.call and not any(int(facts.get("met", 0)) for facts in ranks):
        yield "the fault was not met"
    met_in = case.within or case.call
    failing = STEP_OF.get(met_in, met_in)
    later = STEPS[STEPS.index(failing) :] if case.is_lasting else (failing,)
    allowed = {step: case.classes() | {"SUCCESS"} for step in later}
    wrote_badly = [case.writes and facts.get("transfer", "none") != "SUCCESS" for facts in ranks]
    wrote_badly_again = [
        case.writes and facts.get("again", "SUCCESS") != "SUCCESS" for facts in ranks
    ]
    for rank, facts in enumerate(ranks):
        others_failed = any(bad for other, bad in enumerate(wrote_badly) if other != rank)
        others_failed_again = any(
            bad for other, bad in enumerate(wrote_badly_again) if other != rank
        )
        told = False
        for step in STEPS:
            if step not in facts:
                continue
            tells = others_failed and step in ("sync", "close")
            tells = tells or (others_failed_again and step == "close")
            told = told or (tells and facts[step] != "SUCCESS")
            if facts[step] not in allowed.get(step, {"SUCCESS"}) and not tells:
                yield f"rank {rank}: {step} gives {facts[step]}"
        if case.loses_data and facts.get("sync") == "SUCCESS":
            yield f"rank {rank}: sync succeeds, and data are lost"
        if others_failed and not told:
            yield f"rank {rank}: neither sync nor close tells that another rank's write failed"
        yield from _judge_bytes(case, rank, facts)
    must_fail = case.error and case.error not in PASSING and case.must_meet
    is_everywhere = "rank=" not in case.rest
    succeeds = all(facts.get(failing) == "SUCCESS" for facts in ranks)
    if must_fail and is_everywhere and succeeds:
        yield f"{failing} succeeds on all ranks"


def _judge_bytes(case: Case, rank: int, facts: Facts) -> Iterable[str]:
    if facts["leaked"] != "0":
        yield f"rank {rank}: {facts['leaked']} descriptors are left open"
    for step, prefix in (("transfer", ""), ("again", "again")):
        if step not in facts or f"{prefix}count" not in facts:
            continue
        count, present = int(facts[f"{prefix}count"]), int(facts[f"{prefix}present"])
        if facts[f"{prefix}foreign"] != "0":
            yield f"rank {rank}: {facts[f'{prefix}foreign']} bytes are nobody's ({step})"
        if facts[step] == "SUCCESS" and case.writes and count != RANK_BYTES:
            yield f"rank {rank}: success, and {count} bytes are written ({step})"
        if facts[step] != "SUCCESS" and count == RANK_BYTES:
            yield f"rank {rank}: an error, and all bytes are counted ({step})"
        # A second write that fails leaves there what the first has written.
        is_exact = case.writes and step == "transfer" and not case.takes_room_again
        is_true = count == present if is_exact else count <= present
        may_be_zeros = case.is_cut and count > present and facts[f"{prefix}foreign"] == "0"
        if not is_true and not case.is_gone and not may_be_zeros:
            yield f"rank {rank}: {count} bytes are counted, {present} are there ({step})"
