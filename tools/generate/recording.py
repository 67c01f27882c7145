"""What the recorder counts of each procedure: [record] of spec/mpi.toml."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.generate.rendering import SpecError
from tools.generate.standard import Binding

OTHER = "other"
MOST_MEETINGS = 30


@dataclass(frozen=True)
class Recorded:
    """How one procedure is recorded."""

    call_class: str
    name: str
    """C's, without _c."""
    sent: str = ""
    """C++ of the bytes that it sends, or nothing."""
    fetched: str = ""
    """The same of what it receives, if its arguments tell."""
    to: str = ""
    """The parameter that names the receiver."""
    arrives: str = ""  # status, request
    completes: str = ""  # one, any, all, some
    meeting: str = ""
    """Which ranks a blocking collective call needs: a value of record::Meeting."""
    operation: int = 0
    """Its number among these."""
    makes_communicator: bool = False
    parameters: tuple[str, ...] = ()
    """Those that are named by what is above."""

    @property
    def is_persistent(self) -> bool:
        return self.name.endswith("_init")

    @property
    def sending(self) -> str:
        """How it waits for the receiver, if it blocks: a value of MessageWaits::Sending."""
        if self.name == "MPI_Ssend":
            return "surely"
        return "by_itself" if self.name in ("MPI_Bsend", "MPI_Rsend") else "maybe"

    @property
    def is_message(self) -> bool:
        """Whether it sends or receives a message that others of its kind follow in order."""
        return self.call_class == "point_to_point" and not self.name.startswith("MPI_P")


class Recording:
    def __init__(self, spec: dict) -> None:
        self.classes = [
            (own["name"], re.compile("|".join(f"(?:{one})" for one in own["procedures"])))
            for own in spec["classes"]
        ]
        self.payloads = [
            (name, re.compile("|".join(f"(?:{one})" for one in own["procedures"])), own)
            for name, own in spec["payloads"].items()
        ]
        self.completes = {
            name: which for which, names in spec["completes"].items() for name in names
        }
        self.makes = re.compile("|".join(f"(?:{one})" for one in spec["makes"]["procedures"]))
        self.meetings = [
            (name, kind) for kind, procedures in spec["meetings"].items() for name in procedures
        ]
        if len(self.meetings) > MOST_MEETINGS:
            raise SpecError(
                "spec/mpi.toml: flavour/recorded_waits.cc tells fewer [record.meetings] apart"
            )

    def of(self, binding: Binding) -> Recorded:
        name = binding.procedure.removesuffix("_c")
        fitting = [(of, own) for of, pattern, own in self.payloads if pattern.fullmatch(name)]
        if len(fitting) > 1:
            raise SpecError(f"spec/mpi.toml: {name} has two payloads: {[of for of, _ in fitting]}")
        payload = fitting[0][1] if fitting else {}
        sent, to = payload.get("sent", ""), payload.get("to", "")
        fetched = payload.get("fetched", "")
        used = set(re.findall(r"\w+", f"{sent} {fetched} {to}"))
        if to:
            used.add("comm")
        meeting = next(
            ((number, kind) for number, (of, kind) in enumerate(self.meetings) if of == name),
            (0, ""),
        )
        return Recorded(
            call_class=next((of for of, p in self.classes if p.fullmatch(name)), OTHER),
            name=name,
            sent=sent,
            fetched=fetched,
            to=to,
            arrives=payload.get("arrives", ""),
            completes=self.completes.get(name, ""),
            meeting=meeting[1],
            operation=meeting[0],
            makes_communicator=bool(self.makes.fullmatch(name)),
            parameters=tuple(own.name for own in binding.parameters if own.name in used),
        )
