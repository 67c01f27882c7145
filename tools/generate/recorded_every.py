"""[record.payloads] of spec/mpi.toml and the MPI standard's description -> a C program's callers of
every procedure whose bytes the recorder counts.

What a call moves is said here in the numbers of the test program (recorded_every.h), which knows
nothing of what spec/mpi.toml says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tools.generate.mpi import FILE_PREFIX, TransferForm, read_spec
from tools.generate.recording import Recording
from tools.generate.rendering import Output, SpecError, render
from tools.generate.standard import Binding, Parameter, Standard

PATH = "tests/mpi/programs/generated/recorded_every_calls.c"

# What a parameter is given, by its name. `.#` is the array of the parameter's type.
ARGUMENTS = {
    "count": "of->count",
    "sendcount": "of->count",
    "recvcount": "of->taken",
    "origin_count": "of->count",
    "result_count": "of->taken",
    "target_count": "of->taken",
    "partitions": "kPartitions",
    "datatype": "of->type",
    "sendtype": "of->type",
    "recvtype": "MPI_INT",
    "origin_datatype": "of->type",
    "result_datatype": "MPI_INT",
    "target_datatype": "MPI_INT",
    "sendcounts": "at->give.#",
    "recvcounts": "at->take.#",
    "displs": "at->places.#",
    "sdispls": "at->places.#",
    "rdispls": "at->places.#",
    "sendtypes": "at->types",
    "recvtypes": "at->int_types",
    "op": "of->op",
    "root": "at->root",
    "comm": "at->comm",
    "info": "MPI_INFO_NULL",
    "request": "&request",
    "status": "at->status",
    "message": "&message",
    "dest": "at->to_rank",
    "source": "at->from_rank",
    "target_rank": "at->to_rank",
    "target_disp": "0",
    "tag": "kTag",
    "sendtag": "kTag",
    "recvtag": "kTag",
    "win": "at->win",
    "fh": "at->file",
    "offset": "at->offset",
}
IN_BYTES = {"sdispls": "at->byte_places.#", "rdispls": "at->byte_places.#"}
SUFFIXES = {"int": "ints", "MPI_Count": "counts", "MPI_Aint": "aints"}

WAIT = "every_wait(&other);"


@dataclass(frozen=True)
class Family:
    """Procedures whose calls move the same, whether they block, start or make a request."""

    procedures: str
    """A pattern of names without MPI_, in lower case."""
    kind: str
    """A value of `enum kind`: where they are called."""
    moves: str
    """C: the bytes of a call."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Where they are not ARGUMENTS."""
    ways: tuple[str, ...] = ("kPlain",)
    in_place: str = ""
    """The buffer for which MPI_IN_PLACE may stand. That of a rooted procedure does at the root."""
    before: str = ""
    after: str = ""
    is_sent: bool = False
    """It sends a message to one rank."""


def collective(procedures: str, moves: str, in_place: str = "", **arguments: str) -> Family:
    ways = ("kPlain", "kInPlace") if in_place else ("kPlain",)
    return Family(procedures, "kCollective", moves, arguments, ways, in_place)


def ordered(procedures: str) -> Family:
    """No intercommunicator has these."""
    return Family(
        procedures, "kOrdered", "of->bytes", {}, ("kPlain", "kInPlace"), in_place="sendbuf"
    )


def neighbours(procedures: str, moves: str, **arguments: str) -> Family:
    return Family(f"i?neighbor_{procedures}(_init)?", "kNeighbours", moves, arguments)


def message(
    procedures: str, moves: str, before: str = "", after: str = "", **values: object
) -> Family:
    ways = ("kPlain", "kNobody")
    return Family(procedures, "kMessage", moves, ways=ways, before=before, after=after, **values)


def receive(procedures: str, before: str = "") -> Family:
    offer = "MPI_Request other = every_offer(at, of);"
    more = {"count": "of->count + kMore"}
    return message(procedures, "every_arrival(at, of)", offer + before, WAIT, arguments=more)


def remote(procedures: str, moves: str, **arguments: str) -> Family:
    return Family(
        procedures,
        "kRemote",
        moves,
        {"op": "MPI_SUM", **arguments},
        ("kPlain", "kNobody"),
        before="every_lock(at);",
        after="every_unlock(at);",
    )


OWN = "at->own * of->each"
GIVEN = "at->give.sum * of->each"
DEALT = "at->deal.sum * of->each"
ELEMENT = {"datatype": "of->element"}

FAMILIES = (
    message(
        "i?[bsr]?send(_init)?",
        "of->bytes",
        "MPI_Request other = every_expect(at, of);",
        "every_take(at, of, &other);",
        is_sent=True,
    ),
    receive("i?recv(_init)?"),
    receive("i?mrecv", "\n  MPI_Message message = every_probed(at);"),
    message(
        "i?sendrecv",
        "of->bytes",
        is_sent=True,
        arguments={"recvcount": "of->taken + kMore"},
    ),
    message("i?sendrecv_replace", "of->bytes", is_sent=True),
    collective("i?bcast(_init)?", "at->is_idle ? 0 : of->bytes"),
    collective("i?reduce(_init)?", "at->gives ? of->bytes : 0", "sendbuf"),
    collective("i?allreduce(_init)?", "of->bytes", "sendbuf"),
    ordered("i?(ex)?scan(_init)?"),
    collective(
        "i?reduce_scatter_block(_init)?",
        "at->size * of->bytes",
        "sendbuf",
        recvcount="of->count",
    ),
    # On an intercommunicator, too, whose groups are equal here.
    collective("i?reduce_scatter(_init)?", DEALT, "sendbuf", recvcounts="at->deal.#"),
    collective("i?gather(_init)?", "at->gives ? of->bytes : 0", "sendbuf"),
    collective(
        "i?gatherv(_init)?",
        f"at->gives ? {OWN} : 0",
        "sendbuf",
        sendcount="at->own",
        recvcounts="at->all.#",
    ),
    collective("i?allgather(_init)?", "of->bytes", "sendbuf"),
    collective("i?allgatherv(_init)?", OWN, "sendbuf", sendcount="at->own", recvcounts="at->all.#"),
    collective("i?scatter(_init)?", "at->deals ? at->receivers * of->bytes : 0", "recvbuf"),
    collective(
        "i?scatterv(_init)?",
        f"at->deals ? {DEALT} : 0",
        "recvbuf",
        sendcounts="at->deal.#",
        recvcount="at->own * of->per",
    ),
    collective("i?alltoall(_init)?", "at->receivers * of->bytes", "sendbuf"),
    collective("i?alltoallv(_init)?", GIVEN, "sendbuf"),
    collective("i?alltoallw(_init)?", GIVEN, "sendbuf", **IN_BYTES),
    neighbours("allgather", "of->bytes"),
    neighbours("allgatherv", OWN, sendcount="at->own", recvcounts="at->all.#"),
    neighbours("alltoall", "at->receivers * of->bytes"),
    neighbours("alltoallv", GIVEN),
    neighbours("alltoallw", GIVEN, **IN_BYTES),
    remote("r?(put|(get_)?accumulate)", "of->bytes"),
    remote("r?get", "every_arrival(at, of)"),
    remote("fetch_and_op|compare_and_swap", "of->element_bytes", **ELEMENT),
)
# One caller calls both.
PARTITIONED = ("MPI_Psend_init", "MPI_Precv_init")


def family_of_file(name: str) -> Family:
    form = TransferForm.of(name)
    reads = form.direction == "read"
    seek = "" if form.has_offset else f"every_seek{'_shared' if form.shared else ''}(at);"
    return Family(
        name,
        "kFile",
        "every_read(at, of)" if reads else "of->bytes",
        ways=("kPlain", "kAtTheEnd") if reads and not form.shared else ("kPlain",),
        before=seek,
    )


def family_of(name: str) -> Family | None:
    """None: nobody calls it."""
    if name.startswith(FILE_PREFIX):
        return family_of_file(name)
    short = name.removeprefix("MPI_").removesuffix("_c").lower()
    fitting = [own for own in FAMILIES if re.fullmatch(own.procedures, short)]
    if len(fitting) > 1:
        raise SpecError(f"tools/generate/recorded_every.py: {name} is in two families")
    return fitting[0] if fitting else None


@dataclass(frozen=True)
class Caller:
    binding: Binding
    family: Family
    end: Binding | None = None
    """Of a split call: the second half."""

    @property
    def manner(self) -> str:
        if self.end is not None:
            return "split"
        if self.binding.common.endswith("_init"):
            return "persistent"
        return "started" if self.binding.has("request") else "blocking"

    @property
    def counted(self) -> str:
        """The procedure that has the bytes."""
        reads = self.end is not None and "read" in self.binding.name
        return self.end.name if reads else self.binding.name

    @property
    def arguments(self) -> str:
        return self.arguments_of(self.binding)

    def arguments_of(self, binding: Binding) -> str:
        return ", ".join(self.argument(own) for own in binding.parameters)

    def argument(self, parameter: Parameter) -> str:
        if parameter.role == "buffer":
            buffer = "every_out" if parameter.type.startswith("const") else "every_in"
            if parameter.name != self.family.in_place:
                return buffer
            where = "at->rank == at->root" if self.binding.has("root") else "1"
            return f"IN_PLACE(at, {where}, {buffer})"
        text = {**ARGUMENTS, **self.family.arguments}.get(parameter.name)
        if text is None:
            raise SpecError(
                f"tools/generate/recorded_every.py: {self.binding.name} has the parameter "
                f"{parameter.name}, which no argument is known for"
            )
        return text.replace("#", SUFFIXES.get(parameter.type.removeprefix("const "), ""))


def counted_procedures(standard: Standard, recording: Recording) -> list[Binding]:
    """All that have a payload."""
    found = []
    for own in standard.of_linkage("c"):
        recorded = recording.of(own)
        if recorded.sent or recorded.fetched or recorded.arrives:
            found.append(own)
    return found


def callers(standard: Standard, counted: list[Binding]) -> list[Caller]:
    made = []
    for own in counted:
        if own.name in PARTITIONED:
            continue
        if own.name.endswith("_end"):  # of what is read: its begin has no bytes
            begin = own.name.removesuffix("_end") + "_begin"
            made += [
                Caller(one, family_of(one.name), own) for one in standard.with_large_count(begin)
            ]
        elif own.common.endswith("_begin"):
            end = standard[f"MPI_{own.common.removesuffix('_begin')}_end"]
            made.append(Caller(own, family_of(own.name), end))
        elif (family := family_of(own.name)) is not None:
            made.append(Caller(own, family))
    return made


def outputs(spec_folder: Path) -> list[Output]:
    standard = Standard()
    counted = counted_procedures(standard, Recording(read_spec(spec_folder)["record"]))
    made = callers(standard, counted)
    pair = [standard[name] for name in (*PARTITIONED, "MPI_Pready")]
    declared = {one.name: one for own in made for one in (own.binding, own.end) if one}
    declared |= {one.name: one for one in pair}
    values = {"callers": made, "declared": [declared[name] for name in sorted(declared)]}
    return [render("recorded_every_calls.c.j2", PATH, **values)]
