"""The table of store faults: every call of the store, every error that it may meet."""

from __future__ import annotations

from faults.plan import TRANSFERS, Case, Transfer

STAGED = Transfer("all", "turns")

_FATAL = ("EIO", "ENOSPC", "EDQUOT", "EFBIG", "ESTALE", "EACCES", "EROFS", "EPERM", "ENOMEM")
_READ_ERRORS = ("EIO", "ESTALE", "EACCES", "ENOMEM")
# From which call on, how often, and on which rank (-1: all): what the plan says of it.
_WHEN = {
    "first": "first=0",
    "third": "first=2",
    "once": "first=1 times=1",
    "rank1": "first=0 rank=1",
}


def _transfers(writes: bool) -> list[Case]:
    call = "write" if writes else "read"
    cases = []
    for transfer in TRANSFERS:
        for error in _FATAL if writes else _READ_ERRORS:
            for when, rest in _WHEN.items():
                # One large call may be all there is: only the first is sure to be met.
                sure = when == "first"
                name = f"{call}-{transfer.name}-{error}-{when}"
                cases.append(Case(name, writes, transfer, call, error, rest, must_meet=sure))
        name = f"{call}-{transfer.name}"
        cases += [
            Case(f"{name}-EINTR", writes, transfer, call, "EINTR", "first=0 times=20"),
            Case(
                f"{name}-EAGAIN",
                writes,
                transfer,
                call,
                "EAGAIN",
                "first=1 times=3 rank=0",
                must_meet=False,
            ),
            Case(f"{name}-short", writes, transfer, call, "", "first=0 most=7777"),
        ]
    return cases


def _others() -> list[Case]:
    """Calls that move no bytes; the error must be told by their own step, on all ranks or one."""
    cases = []
    for call, errors in (
        ("open", ("EACCES", "ENOENT", "EROFS", "EIO", "EMFILE", "ESTALE", "EINTR")),
        ("sync", ("EIO", "ENOSPC", "EDQUOT", "ESTALE", "EROFS", "EINTR")),
        ("close", ("EIO", "ENOSPC", "EDQUOT", "ESTALE")),
        ("size", ("EIO", "ESTALE")),
        ("resize", ("EIO", "EFBIG", "ENOSPC", "EPERM", "EINTR")),
        ("allocate", ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EINTR")),
        ("delete", ("EACCES", "EROFS", "ENOENT")),
    ):
        for error in errors:
            when = "first=0 times=5" if error == "EINTR" else "first=0"
            cases.append(Case(f"{call}-{error}", True, STAGED, call, error, when))
    for call in ("open", "sync", "close"):
        cases.append(Case(f"{call}-EIO-rank1", True, STAGED, call, "EIO", "first=0 rank=1"))
    return cases


def _changed_by_others() -> list[Case]:
    """Other processes shorten or remove the file meanwhile."""
    cases = []
    for transfer in TRANSFERS:
        cut = f"first=1 times=1 truncate={30_000}"
        name = f"cut-while-read-{transfer.name}"
        cases.append(Case(name, False, transfer, "read", "", cut, must_meet=False, is_cut=True))
        gone = "first=0 times=1 remove=1"
        name = f"removed-{transfer.name}"
        cases.append(Case(name, True, transfer, "write", "", gone, is_gone=True))
    return cases


def _limits() -> list[Case]:
    return [
        Case(
            f"limit-{transfer.name}-{who}",
            True,
            transfer,
            "",
            "",
            f"filled=0{rest} limit=50000",
            fails=("IO",),
        )
        for transfer in TRANSFERS
        for who, rest in (("all", ""), ("rank1", " rank=1"))
    ]


STORE_CASES = [*_transfers(True), *_transfers(False), *_others(), *_changed_by_others(), *_limits()]
