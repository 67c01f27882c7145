"""Which tests can fail by what they find: Python functions that assert, and C++ sources that do."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import source_tree

# Where modules of tests lie besides the folder of the test: pyproject.toml has `pythonpath`.
ELSEWHERE = ("tests/support", "tests/mpi", "tests/python", "tests")
EXPECTATION = re.compile(r"\b(?:EXPECT|ASSERT)_\w+\(|\b(?:ADD_FAILURE|FAIL)\(\)")


def function_judges(path: Path, name: str) -> bool:
    """The function, or one that it calls, asserts something."""
    return _judges(path, name, frozenset())


def tests_of(path: Path) -> list[str]:
    return [name for name in _functions(path) if name.startswith("test_")]


def source_judges(path: Path) -> bool:
    """It has tests with expectations, or is part of a program that CTest runs."""
    text = source_tree.text(path)
    if re.search(r"^(?:TYPED_)?TEST(?:_F|_P)?\(", text, re.MULTILINE):
        return EXPECTATION.search(text) is not None
    lists = path.parent / "CMakeLists.txt"
    built = source_tree.text(lists) if lists.is_file() else ""
    return "add_test(" in built and ("/*.cc" in built or path.name in built)


def _judges(path: Path, name: str, seen: frozenset[tuple[Path, str]]) -> bool:
    if (path, name) in seen:
        return False
    for function in _functions(path).get(name, []):
        if any(_is_judgement(node) for node in ast.walk(function)):
            return True
        calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
        found = [place for call in calls for place in _called(path, call)]
        if any(_judges(*place, seen | {(path, name)}) for place in found):
            return True
    return False


def _is_judgement(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return called in ("pytest.raises", "pytest.fail")


def _called(path: Path, call: ast.expr) -> list[tuple[Path, str]]:
    """Where functions of the tests lie that a call may mean."""
    imported, modules = _imports(path)
    match call:
        case ast.Name(name):
            if name in _functions(path):
                return [(path, name)]
            return [imported[name]] if name in imported else []
        case ast.Attribute(ast.Name(module), name) if module in modules:
            return [(modules[module], name)]
    return []


@functools.cache
def _functions(path: Path) -> dict[str, list[ast.AST]]:
    found: dict[str, list[ast.AST]] = {}
    for node in ast.parse(source_tree.text(path)).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


@functools.cache
def _imports(path: Path) -> tuple[dict[str, tuple[Path, str]], dict[str, Path]]:
    """Functions and modules of the tests, by the name that they have here."""
    functions, modules = {}, {}
    for node in ast.parse(source_tree.text(path)).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                name = one.asname or one.name
                if file := _module(path, f"{node.module}.{one.name}"):
                    modules[name] = file
                elif file := _module(path, node.module):
                    functions[name] = (file, one.name)
        elif isinstance(node, ast.Import):
            for one in node.names:
                if file := _module(path, one.name):
                    modules[one.asname or one.name] = file
    return functions, modules


def _module(path: Path, name: str) -> Path | None:
    relative = name.replace(".", "/") + ".py"
    folders = [path.parent, *(source_tree.ROOT / folder for folder in ELSEWHERE)]
    return next((file for folder in folders if (file := folder / relative).is_file()), None)
