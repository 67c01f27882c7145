"""The language of rules: arithmetic and comparisons on metrics, and nothing else. An expression is
parsed by Python's `ast`, checked against a list of nodes, and walked; it is never executed.

Logic has three values, as in SQL: what needs a metric that was not measured is unknown, unless the
other side of an `and` or `or` decides alone.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LONGEST = 500  # characters
DEEPEST = 30
Value = float | bool | None

_ARITHMETIC: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type, Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max}


class BadExpression(Exception):
    """Text that is no expression; says why."""


@dataclass(frozen=True)
class Expression:
    text: str
    tree: ast.expr
    names: frozenset[str]

    def value(self, metrics: Mapping[str, float | None]) -> Value:
        """None: unknown, as it needs what was not measured, or divides by 0."""
        return _value(self.tree, metrics)

    def unknown(self, metrics: Mapping[str, float | None]) -> list[str]:
        """Metrics that it names and that were not measured."""
        return sorted(name for name in self.names if metrics.get(name) is None)


def parse(text: str) -> Expression:
    """Raises BadExpression."""
    if len(text) > LONGEST:
        raise BadExpression(f"it has {len(text)} characters, more than {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadExpression(f"'{text}' is no expression") from error
    names: set[str] = set()
    _check(tree, names, 0)
    return Expression(text, tree, frozenset(names))


def _check(node: ast.expr, names: set[str], depth: int) -> None:
    if depth > DEEPEST:
        raise BadExpression("it is nested too deeply")
    for inner in _parts(node):
        _check(inner, names, depth + 1)
    if isinstance(node, ast.Name):
        names.add(node.id)


def _parts(node: ast.expr) -> list[ast.expr]:
    """The expressions in one that is allowed."""
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return []
        case ast.Name():
            return []
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return [operand]
        case ast.BoolOp(values=values):
            return values
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return [left, right]
        case ast.Compare(left=left, ops=ops, comparators=others):
            if all(type(op) in _COMPARISONS for op in ops):
                return [left, *others]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name in _FUNCTIONS and len(arguments) > 1:
                return arguments
    raise BadExpression(f"'{ast.unparse(node)[:60]}' is not allowed in it")


def _value(node: ast.expr, metrics: Mapping[str, float | None]) -> Value:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return metrics.get(name)
        case ast.BoolOp(op=op, values=values):
            return _logic(isinstance(op, ast.And), [_value(one, metrics) for one in values])
        case ast.Compare():
            return _compared(node, metrics)
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, metrics)
            if value is None:
                return None
            return not value if isinstance(op, ast.Not) else -value
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(_ARITHMETIC[type(op)], [left, right], metrics)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _computed(_FUNCTIONS[name], arguments, metrics)
    raise AssertionError(node)


def _logic(is_and: bool, values: list[Value]) -> Value:
    deciding = not is_and
    if any(value is not None and bool(value) == deciding for value in values):
        return deciding
    return None if None in values else is_and


def _compared(node: ast.Compare, metrics: Mapping[str, float | None]) -> Value:
    values = [_value(one, metrics) for one in (node.left, *node.comparators)]
    if None in values:
        return None
    pairs = zip(values, values[1:], node.ops, strict=False)
    return all(_COMPARISONS[type(op)](left, right) for left, right, op in pairs)


def _computed(
    function: Callable[..., float], parts: list[ast.expr], metrics: Mapping[str, float | None]
) -> Value:
    values = [_value(one, metrics) for one in parts]
    if None in values:
        return None
    try:
        return function(*values)
    except (ZeroDivisionError, OverflowError):
        return None
