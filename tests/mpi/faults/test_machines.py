"""Machines that lack what others have: everything works, and what is done instead is named."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import Result, compile_c, compile_program, launch, run, shared_object
from test_bad_input import DROP, NOBODY

from faults import table
from faults.plan import SOURCES, TRANSFERS, Case, judge, read_facts

RANKS = 2
# What the MPIs themselves keep there is touched later, and ends the program where it is full.
WITHOUT_SHM = {"OMPI_MCA_btl": "self,tcp", "I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}
ENOSYS, EPERM, EOPNOTSUPP = 38, 1, 95
NO_FILTERS = 77
CONTAINER = "process_vm_readv,process_vm_writev,io_uring_setup,pidfd_open,pidfd_getfd,ptrace"
STAGED = "staged"
NO_MEMFD = "posix,_no_memfd:_cannot_make_shared_memory_(Function_not_implemented)"

# Each in a mount namespace of its own, made by root.
SMALL = "mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm"
TINY = "mount -t tmpfs -o size=64k,mode=1777 tmpfs /dev/shm"
READ_ONLY = "mount -t tmpfs -o ro,mode=1777 tmpfs /dev/shm"
# Another /dev, with what programs need of it.
NO_SHM = """new=$(mktemp -d) && mount -t tmpfs tmpfs $new &&
for one in null zero full random urandom tty; do
  touch $new/$one && mount --bind /dev/$one $new/$one; done &&
mkdir $new/pts && mount --rbind /dev/pts $new/pts && ln -s pts/ptmx $new/ptmx &&
ln -s /proc/self/fd $new/fd && mount --move $new /dev && rmdir $new && test ! -e /dev/shm"""
HIDDEN = "mount -t proc -o hidepid=2 proc /proc"
NO_PROC = "mount -t tmpfs tmpfs /proc"


@dataclass(frozen=True)
class Machine:
    """forbidden: system calls with the errno they give; limits: fault_limits.h; mounts: a command
    run in a mount namespace of its own; taken: the path of collective calls with small pieces;
    reason: what the file's info says of it; memory: how it says that ranks share memory; user: as
    an unprivileged one."""

    name: str
    forbidden: tuple[tuple[int, str], ...] = ()
    limits: str = ""
    mounts: str = ""
    taken: str = STAGED
    reason: str = ""
    memory: str = "memfd"
    user: bool = False
    usual: bool = True
    settings: dict[str, str] = field(default_factory=dict)

    def needs_root(self) -> bool:
        return self.user or bool(self.mounts)


def direct(name: str, memory: str, **what) -> Machine:
    return Machine(name, taken="direct", reason="shares_memory", memory=memory, **what)


MACHINES = (
    Machine("no-memfd", forbidden=((ENOSYS, "memfd_create"),), memory=NO_MEMFD),
    Machine("container", forbidden=((EPERM, CONTAINER), (ENOSYS, "memfd_create")), memory=NO_MEMFD),
    Machine("no-cma", forbidden=((EPERM, "process_vm_readv,process_vm_writev"),), usual=False),
    Machine("no-affinity", forbidden=((EPERM, "sched_setaffinity"),), usual=False),
    Machine("no-fallocate", forbidden=((EOPNOTSUPP, "fallocate"),)),
    Machine("no-getrandom", forbidden=((ENOSYS, "getrandom"),), usual=False),
    Machine(
        "small-shm", forbidden=((EPERM, "memfd_create"),), mounts=SMALL, memory="posix", usual=False
    ),
    direct(
        "full-shm",
        "none,_no_memfd:",
        forbidden=((EPERM, "memfd_create"),),
        mounts=SMALL,
        limits="fill=/dev/shm/filled",
        settings=WITHOUT_SHM,
    ),
    *(
        machine
        for name, mounts in (("tiny", TINY), ("read-only", READ_ONLY), ("no", NO_SHM))
        for machine in (
            Machine(f"{name}-shm", mounts=mounts, settings=WITHOUT_SHM, usual=name == "no"),
            direct(
                f"{name}-shm-no-memfd",
                "none,_no_memfd:",
                forbidden=((EPERM, "memfd_create"),),
                mounts=mounts,
                settings=WITHOUT_SHM,
            ),
        )
    ),
    direct("switched-off", "none", settings={"HEADRACE_SHARED_MEMORY": "none"}, usual=False),
    Machine(
        "no-buffers",
        settings={"HEADRACE_NODE_MEMORY": "0"},
        taken="direct",
        reason="HEADRACE_NODE_MEMORY",
    ),
    Machine("few-descriptors", limits="nofile=8"),
    Machine("few-threads", limits="nproc=1", user=True),
    direct("little-memory", "none", limits=f"memory={48 << 20}"),
    Machine("hidden-processes", mounts=HIDDEN, user=True, usual=False),
    Machine("not-dumpable", limits="dumpable=0", user=True, memory="posix"),
    Machine("no-proc", mounts=NO_PROC, memory="posix", usual=False),
)

CASES = [
    Case(f"{'write' if writes else 'read'}-{transfer.name}", writes, transfer, "")
    for writes in (True, False)
    for transfer in TRANSFERS
]


def run_on(host: Host, machine: Machine, place: Path, library: Path, layered: bool) -> Result:
    directory = place / ("layered" if layered else "plain")
    directory.mkdir()
    # Without the layer: whether the MPI itself can do anything there.
    cases = CASES if layered else CASES[:1]
    (directory / "plan").write_text("".join(case.line() + "\n" for case in cases))
    programs = [
        compile_program(["gcc"], ["poor_machine.c"], "poor_machine"),
        compile_c(host, SOURCES, "fault_job"),
        *([library] if layered else []),
        shared_object("yield_shim.c"),
    ]
    launcher, job, *objects = [Path(shutil.copy(path, directory)) for path in programs]
    before: list = []
    if machine.mounts:
        before = ["unshare", "-m", "sh", "-c", f'{machine.mounts} && exec "$@"', "sh"]
    if machine.user:
        os.chown(directory, NOBODY, NOBODY)
        before += [*DROP, "env", f"HOME={directory}", f"TMPDIR={directory}"]
    words = [word for errno, calls in machine.forbidden for word in ("-s", errno, calls)]
    command = [launcher, *words, job, directory, directory / "plan"]
    settings = dict(machine.settings)
    if machine.limits:
        settings["FAULT_LIMITS"] = machine.limits
    return launch(
        host,
        RANKS,
        command,
        layered,
        settings,
        objects=objects,
        before=before,
        cwd=directory,
    )


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(one, id=one.name, marks=() if one.usual else pytest.mark.deep)
        for one in MACHINES
    ],
)
def test_machine(host: Host, machine: Machine, place: Path, library) -> None:
    if machine.needs_root() and os.geteuid() != 0:
        absent("needs root")
    launcher = host.launch_line(RANKS)[0]
    if machine.user and run([*DROP, "test", "-x", shutil.which(launcher)]).code != 0:
        absent(f"the unprivileged user may not run {launcher}")
    result = run_on(host, machine, place, library, layered=True)
    if result.code == NO_FILTERS:
        pytest.skip("the kernel has no system call filters")
    problem = judge_machine(machine, result)
    if problem and not runs_plain(host, machine, place, library):
        pytest.skip(f"{host.name} itself does not run on such a machine")
    table.note(f"machine: {machine.name}", host.name, not problem)
    assert not problem, f"{problem}\n{result.explain()}"


def runs_plain(host: Host, machine: Machine, place: Path, library: Path) -> bool:
    result = run_on(host, machine, place, library, layered=False)
    facts = read_facts(result.out).get(CASES[0].name, [])
    return result.code == 0 and not list(judge(CASES[0], facts, RANKS))


def judge_machine(machine: Machine, result: Result) -> str:
    facts = read_facts(result.out)
    wrong = [
        f"{case.name}: {text} {facts.get(case.name)}"
        for case in CASES
        for text in judge(case, facts.get(case.name, []), RANKS)
    ]
    if wrong:
        return "\n".join(wrong)
    if result.code != 0 or not result.out.endswith("end\n"):
        return "does not end well"
    if result.litter:
        return f"leaves {result.litter}"
    for case in CASES:
        for rank in facts[case.name]:
            if case.transfer.shape != "turns" or not case.transfer.how.endswith("all"):
                continue
            # The first rank makes the memory, and knows why it could not.
            memory = machine.memory if rank["rank"] == "0" else machine.memory.split(",")[0]
            named = machine.reason in rank["reason"] and rank["memory"].startswith(memory)
            if rank["taken"] != machine.taken or not named:
                return f"{case.name}: {rank['taken']}, {rank['reason']}, {rank['memory']}"
    return ""
