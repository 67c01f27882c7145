"""The command asks the resolver for a setting, which knows all places that may give one: whoever
reads the variable misses the files and the command line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
import source_tree

from headrace.settings.generated.table import SETTINGS

SOURCE = source_tree.ROOT / "python" / "headrace"
# Those that no file gives name where the command finds libraries and files. They are looked up in
# an environment to which the resolver has added what the command line gives.
OF_FILES = {setting.name for setting in SETTINGS if setting.scope != "start"}


def direct_reads(code: str) -> Iterator[tuple[int, str]]:
    """The line and name of each setting that is read of an environment."""
    tree = ast.parse(code)
    texts = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="getenv"), args=[key, *_]):
                pass
            case ast.Call(func=ast.Attribute(attr="getenv"), args=[key, *_]):
                pass
            case ast.Call(func=ast.Attribute(value=place, attr="get"), args=[key, *_]) if _is(
                place
            ):
                pass
            case ast.Subscript(value=place, slice=key, ctx=ast.Load()) if _is(place):
                pass
            case _:
                continue
        key = texts.get(key.id, key) if isinstance(key, ast.Name) else key
        if isinstance(key, ast.Constant) and key.value in OF_FILES:
            yield node.lineno, key.value


def _is(place: ast.expr) -> bool:
    name = place.attr if isinstance(place, ast.Attribute) else getattr(place, "id", "")
    return name in ("environ", "environment")


@pytest.mark.parametrize(
    "line",
    [
        'environ.get("HEADRACE_LOGPATH", "")',
        'os.environ["HEADRACE_LOGPATH"]',
        'os.getenv("HEADRACE_LOGPATH")',
        'getenv("HEADRACE_LOGPATH")',
        "environ.get(PLACE)",
    ],
)
def test_a_direct_read_is_seen(line: str) -> None:
    assert list(direct_reads(f'PLACE = "HEADRACE_LOGPATH"\n{line}\n')) == [(2, "HEADRACE_LOGPATH")]


def test_settings_are_asked_of_the_resolver() -> None:
    paths = [path for path in source_tree.with_suffix(".py") if path.is_relative_to(SOURCE)]
    wrong = [
        f"{source_tree.shown(path)}:{line} reads {name}, ask resolve_run() for it"
        for path in paths
        if not path.is_relative_to(SOURCE / "settings")
        for line, name in direct_reads(source_tree.text(path))
    ]
    assert paths and not wrong, "\n".join(wrong)
