"""docs/measurements/size.md, which ./dev build --sizes writes, tells all of the library."""

from __future__ import annotations

import pytest
import source_tree

from devtool import sizes
from tools.generate.mpi import read_spec

SPEC = read_spec(source_tree.ROOT / "spec")


def test_each_room_and_feature_has_a_row() -> None:
    rooms = {path.name for path in (source_tree.ROOT / "src").iterdir() if path.is_dir()}
    # `gather` is a program of its own.
    named = [room for part in sizes.PARTS for room in part.rooms]
    assert sorted([*named, "abi", "gather"]) == sorted(rooms)
    wrapping = [part.wraps for part in sizes.PARTS if part.wraps]
    assert sorted(wrapping) == sorted(feature["name"] for feature in SPEC["features"])


def test_each_source_is_of_one_part() -> None:
    """What several parts name is counted in the first; beginnings that name nothing are gone."""
    paths = [*(source_tree.ROOT / "src" / "abi").rglob("*.cc")]
    names = {path.stem for path in paths}
    for part in sizes.PARTS[:-1]:
        for start in part.sources:
            own = {name for name in names if name.startswith(start)}
            assert own, f"{part.what}: no source of abi begins with {start}"
            found = {sizes.part_of(sizes.Compiled("abi", name, 0, 0)).what for name in own}
            assert found == {part.what}


def test_the_page_has_all_parts() -> None:
    text = source_tree.text(sizes.PAGE)
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines()]
    assert [row for row in rows if row in {part.what for part in sizes.PARTS}] == [
        part.what for part in sizes.PARTS
    ], "run ./dev build --sizes"
    assert f"below {sizes.MOST_MIB} MiB" in text


def test_sizes_and_times_are_summed_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_compiler", lambda: "12")
    log = "# ninja log v5\n0\t2000\t1\ta.o\tx\n5\t1005\t1\tb.o\tx\n0\t3000\t1\ta.o\tx\n"
    seconds = sizes.seconds_by_output(log)
    assert seconds == {"a.o": 3.0, "b.o": 1.0}
    objects = [
        sizes.Compiled("record", "recorder", 2048, seconds["a.o"]),
        sizes.Compiled("abi", "recorder_wrappers", 1024, 0.5),
        sizes.Compiled("abi", "recorder_wrappers", 1024, 0.5),
        sizes.Compiled("abi", "chain", 3072, 0.0),
    ]
    page = sizes.page(objects, 5 << 20)
    assert "has 5.0 MiB of code and data" in page
    assert "| recorder, regions | `record` | 2 | 2 | 100% |" in page
    assert "ground of flavours |  |  | 3 | 0% |" in page
