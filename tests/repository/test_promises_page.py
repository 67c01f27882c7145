"""docs/trust.md: each promise names tests, and they exist and can fail."""

from __future__ import annotations

import re
from pathlib import Path

import judging
import pytest
import source_tree

PAGE = source_tree.text(source_tree.ROOT / "docs" / "trust.md")


def promises() -> list[str]:
    """The rows of the tables, less their heads."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    heads = ("| promise |", "| machine |", "| --- |")
    return [row for row in rows if not row.startswith(heads)]


def holders(row: str) -> list[str]:
    return re.findall(r"`([\w/-]+\.(?:py|cc)(?:::\w+)?)`", row.rsplit(" | ", 1)[1])


def weakness(name: str) -> str:
    """Why what a promise names could not fail; empty if it could."""
    path, _, function = name.partition("::")
    file = source_tree.ROOT / path
    if not file.is_file():
        return f"{path} does not exist"
    if file.suffix == ".cc":
        has_tests = judging.source_judges(file)
        return "" if has_tests else f"{path} has no expectation, and CTest does not run it"
    functions = judging.tests_of(file)
    if function and function not in functions:
        return f"{path} has no {function}"
    chosen = [function] if function else functions
    silent = [one for one in chosen if not judging.function_judges(file, one)]
    return f"{path}: {silent} assert nothing" if silent or not chosen else ""


def test_each_promise_names_a_test() -> None:
    assert len(promises()) > 10
    assert [row for row in promises() if not holders(row)] == []


def test_the_tests_exist_and_can_fail() -> None:
    names = {name for row in promises() for name in holders(row)}
    wrong = [what for name in sorted(names) if (what := weakness(name))]
    assert not wrong, "\n".join(wrong)


def test_the_cases_exist() -> None:
    sources = (source_tree.ROOT / "bench" / "promises").glob("*_cases.cc")
    text = "".join(source_tree.text(path) for path in sources)
    known = set(re.findall(r'^    \{"([\w-]+)", \d', text, re.MULTILINE))
    rows = [re.search(r"\bcases? (`.*)", row.rsplit(" | ", 1)[1]) for row in promises()]
    named = {name for row in rows if row for name in re.findall(r"`([\w-]+)`", row[1])}
    assert named and named - known == set()


@pytest.mark.parametrize(
    ("body", "judges"),
    [
        ("    assert 1 + 1 == 2\n", True),
        ("    with pytest.raises(OSError):\n        open('x')\n", True),
        ("    helper()\n", True),
        ("    other()\n", False),
        ("    assert True\n", False),
        ("    print('fine')\n", False),
    ],
)
def test_functions_without_an_assert_are_found(tmp_path: Path, body: str, judges: bool) -> None:
    text = "def helper():\n    assert open('x')\n\ndef other():\n    other()\n\n"
    (tmp_path / "test_made.py").write_text(f"{text}def test_it():\n{body}")
    assert judging.function_judges(tmp_path / "test_made.py", "test_it") is judges


def test_functions_of_other_modules_are_followed(tmp_path: Path) -> None:
    (tmp_path / "made_help.py").write_text("def check():\n    assert open('x')\n")
    names = {"a": "import made_help\n", "b": "from made_help import check\n", "c": ""}
    for name, line in names.items():
        call = "made_help.check()" if name == "a" else "check()"
        (tmp_path / f"test_{name}.py").write_text(f"{line}def test_it():\n    {call}\n")
        found = judging.function_judges(tmp_path / f"test_{name}.py", "test_it")
        assert found is bool(line), name


@pytest.mark.parametrize(
    ("text", "lists", "judges"),
    [
        ("TEST(Made, Up) { EXPECT_EQ(1, one()); }\n", "", True),
        ("TEST(Made, Up) { one(); }\n", "add_test(NAME a COMMAND a)\n", False),
        ("int main() { return one(); }\n", "", False),
        ("int main() { return one(); }\n", "add_executable(a made.cc)\nadd_test(NAME a)\n", True),
        ("int main() { return one(); }\n", "add_executable(a b.cc)\nadd_test(NAME a)\n", False),
    ],
)
def test_sources_that_cannot_fail_are_found(
    tmp_path: Path, text: str, lists: str, judges: bool
) -> None:
    (tmp_path / "made.cc").write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(lists)
    assert judging.source_judges(tmp_path / "made.cc") is judges
