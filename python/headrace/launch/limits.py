"""Variables that have to grow or shrink with the job: what they should be, and why. Pure functions,
but for looking for networks."""

import ast
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.launch.generated.limits import LIMITS
from headrace.launch.limit import Limit

NETWORKS = {"cxi": Path("/sys/class/cxi"), "verbs": Path("/sys/class/infiniband")}
SET = "set"
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_FUNCTIONS = {"min": min, "max": max}


@dataclass(frozen=True)
class Job:
    """What limits depend on. ranks, per_node: 0 if unknown. mpi: its kind, "" if unknown."""

    mpi: str
    ranks: int
    per_node: int


@dataclass(frozen=True)
class Decision:
    """What became of a limit. value: what it is, or should be. is_set: whether we set it."""

    limit: Limit
    value: str
    is_set: bool
    why: str

    def __str__(self) -> str:
        return f"{self.limit.variable}={self.value}: {self.why} (without it {self.limit.prevents})"


def networks() -> frozenset[str]:
    """The networks of this node that limits ask for."""
    return frozenset(name for name, place in NETWORKS.items() if place.is_dir())


def decide(
    job: Job,
    environ: Mapping[str, str],
    line: Sequence[str] = (),
    present: Iterable[str] = (),
    rows: Iterable[Limit] = LIMITS,
) -> list[Decision]:
    """What to do about each limit of this MPI. A value of the user's, in the environment or on the
    launcher's line, stays."""
    decisions = []
    for limit in rows:
        if job.mpi not in limit.mpis or (limit.on and limit.on not in present):
            continue
        value = _value(limit, job)
        if value is None:
            continue
        name = limit.variable
        if name in environ:
            decisions.append(Decision(limit, environ[name], False, "kept as you set it"))
        elif _is_named(name, line):
            decisions.append(Decision(limit, value, False, "left to the launcher's line"))
        elif limit.action == SET:
            why = f"set for {job.ranks} ranks, {job.per_node or 'an unknown number'} on a node"
            decisions.append(Decision(limit, value, True, why))
        else:
            decisions.append(Decision(limit, value, False, "not set, consider it"))
    return decisions


def _is_named(name: str, line: Iterable[str]) -> bool:
    """Whether words of a launcher's line set a variable: NAME VALUE, NAME=VALUE, or lists of these
    as srun's --export and Open MPI's mca_base_env_list have them."""
    entries = (one for word in line for one in re.split("[,;]", word.removeprefix("--export=")))
    return any(one.partition("=")[0] == name for one in entries)


def variables(decisions: Iterable[Decision]) -> dict[str, str]:
    return {one.limit.variable: one.value for one in decisions if one.is_set}


def _value(limit: Limit, job: Job) -> str | None:
    """None if it depends on a number that is not known."""
    if not limit.most:
        return limit.value
    names = {"ranks": job.ranks, "per_node": job.per_node}
    number = evaluate(limit.value, names)
    return None if number is None else str(min(max(number, limit.least), limit.most))


def evaluate(formula: str, names: Mapping[str, int]) -> int | None:
    """A formula of whole numbers, names, + - * //, min and max; None if a name's number is 0."""
    tree = ast.parse(formula, mode="eval").body
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - set(_FUNCTIONS)
    return None if any(not names[name] for name in used) else _evaluated(tree, names)


def _evaluated(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=symbol, right=right):
            return _OPERATORS[type(symbol)](_evaluated(left, names), _evaluated(right, names))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](*(_evaluated(one, names) for one in arguments))
    raise ValueError(f"a formula may not hold {ast.dump(node)}")
