"""From the records that the ranks of a job left to one verdict. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

RIGHT = "right"
ABORT = 6  # SIGABRT


@dataclass(frozen=True)
class Record:
    """What one rank left (bench/promises/watch.h says how it is written).

    ends: it was to end in the middle, and its job with it; signal, crashed_in: the signal that
    ended it, 0 for none, and the call it was in; hung_in: the call that did not come back, None
    where all did.
    """

    begun: bool = False
    layered: bool = False
    ends: bool = False
    judged: bool = False
    finished: bool = False
    broken: tuple[str, ...] = ()
    signal: int = 0
    crashed_in: str = ""
    hung_in: str | None = None


@dataclass(frozen=True)
class Verdict:
    """kept: None where the job could not be run. text: for the table, in a few words; detail: more
    of it, for people who look closer."""

    kept: bool | None
    text: str
    detail: str = ""


def read_record(text: str) -> Record:
    """A rank's record; lines that are not whole count for nothing."""
    lines = [line.split("\t") for line in text.split("\n")[:-1]]
    events = {words[0]: words[1:] for words in lines}
    number, crashed_in = [*events.get("signal", []), "0", ""][:2]
    return Record(
        begun="begun" in events,
        layered="layer" in events,
        ends="ends" in events,
        judged="judged" in events,
        finished="finished" in events,
        broken=tuple(words[1] for words in lines if words[0] == "broken" and len(words) == 2),
        signal=int(number) if number.isdigit() else 0,
        crashed_in=crashed_in,
        hung_in=(events["hangs"] or [""])[0] if "hangs" in events else None,
    )


def judge(
    records: Sequence[Record], layered: bool, timed_out: bool, code: int, output: str = ""
) -> Verdict:
    """The verdict on a job of these ranks.

    layered: whether it was to run with Headrace; timed_out: whether it had to be ended from
    outside; code: the launcher's exit code; output: all that the job printed.
    """
    last_line = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    if not all(record.begun for record in records):
        ended = "it did not start in time" if timed_out else f"exit code {code}"
        return Verdict(None, "not run", f"{ended}: {last_line}" if last_line else ended)
    is_to_end = any(record.ends for record in records)
    # Some launchers and libraries end the ranks that are left by a signal.
    expected = {ABORT} if is_to_end else set()
    crashed = [record for record in records if record.signal and record.signal not in expected]
    if crashed:
        return Verdict(
            False, f"crashes (signal {crashed[0].signal})", _inside(crashed[0].crashed_in)
        )
    hung = [record.hung_in for record in records if record.hung_in is not None]
    if hung or timed_out:
        return Verdict(
            False, "hangs", _inside(" or ".join(sorted({call for call in hung if call})))
        )
    if not is_to_end and not all(record.judged for record in records):
        return Verdict(False, "ends the program", f"exit code {code}: {last_line}".rstrip(": "))
    phrases = list(dict.fromkeys(text for record in records for text in record.broken))
    if not is_to_end and not all(record.finished for record in records):
        phrases.append("MPI_Finalize ends the program")
    if phrases:
        return Verdict(False, "; ".join(phrases))
    if layered and not any(record.layered for record in records):
        return Verdict(None, "not run", "Headrace did not take part")
    return Verdict(True, RIGHT)


def _inside(call: str) -> str:
    return f"in {call}" if call else ""
