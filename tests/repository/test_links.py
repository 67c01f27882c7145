"""Links of the documents: each leads to a file of the checkout, each anchor to a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import source_tree

# Code may hold what looks like a link. A block of it is indented, or lies between fences.
CODE = re.compile(r"^(?: {4}|\t)[^\n]*$|^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FENCES = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)?$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def links(text: str) -> list[str]:
    """Targets of the links that lead to files of the same tree."""
    found = LINK.findall(CODE.sub("", text))
    return [target for target in found if not ELSEWHERE.match(target)]


def anchors(text: str) -> set[str]:
    """What a link may name behind its #, as GitHub makes it of the headings."""
    made: set[str] = set()
    for heading in HEADING.findall(FENCES.sub("", text)):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        plain = re.sub(r"[^\w\- ]", "", shown.lower()).strip().replace(" ", "-")
        name = plain
        number = 0
        while name in made:
            number += 1
            name = f"{plain}-{number}"
        made.add(name)
    return made


def broken(page: Path) -> Iterator[str]:
    for target in links(source_tree.text(page)):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            yield f"{target} leads to no file"
        elif not file.resolve().is_relative_to(source_tree.ROOT):
            yield f"{target} leads out of the checkout"
        elif anchor and anchor not in anchors(source_tree.text(file)):
            yield f"{target} leads to no heading"


def test_each_link_leads_somewhere() -> None:
    pages = source_tree.with_suffix(".md")
    assert sum(len(links(source_tree.text(page))) for page in pages) > 20
    wrong = [f"{source_tree.shown(page)}: {what}" for page in pages for what in broken(page)]
    assert not wrong, "\n".join(wrong)


def test_each_page_of_docs_can_be_reached() -> None:
    """From README.md, by links alone."""
    start = (source_tree.ROOT / "README.md").resolve()
    reached, new = {start}, {start}
    while new:
        targets = {
            (page.parent / target.partition("#")[0]).resolve()
            for page in new
            for target in links(source_tree.text(page))
            if target.partition("#")[0].endswith(".md")
        }
        new = {page for page in targets - reached if page.is_file()}
        reached |= new
    pages = {path.resolve() for path in source_tree.with_suffix(".md")}
    lost = {source_tree.shown(page) for page in pages - reached}
    assert not lost, f"no link leads from README.md to {sorted(lost)}"


PAGE = """# A page of `code`

[one](#a-page-of-code), [two](other.md#b "title"), [far](https://example.org), `[no](code.md)`

    [no](block.md)

## Twice: it is, is it?
## Twice: it is, is it?
"""


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (links(PAGE), ["#a-page-of-code", "other.md#b"]),
        (anchors(PAGE), {"a-page-of-code", "twice-it-is-is-it", "twice-it-is-is-it-1"}),
    ],
)
def test_the_test_reads_pages_as_they_are_shown(found: object, expected: object) -> None:
    assert found == expected
