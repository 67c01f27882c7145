"""Files of rank orders: Cray's grammar, read and written."""

from pathlib import Path

import numpy as np
import pytest

from headrace.errors import HeadraceError
from headrace.place import order_file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0-3", [0, 1, 2, 3]),
        ("3-0", [3, 2, 1, 0]),
        ("0,4,1,5,2,3", [0, 4, 1, 5, 2, 3]),
        ("# made by grid_order\n0,1,4,5\n2,3,6,7\n", [0, 1, 4, 5, 2, 3, 6, 7]),
        ("0,,1,,,2,\n,3,", [0, 1, 2, 3]),
        ("0-1, 5-4 , 2 # the rest\n\n  3\n", [0, 1, 5, 4, 2, 3]),
        ("0-0", [0]),
        ("1\r\n0\r\n", [1, 0]),
    ],
)
def test_orders_are_read(text: str, expected: list[int]) -> None:
    assert order_file.parse(text).tolist() == expected


@pytest.mark.parametrize(
    ("text", "ranks", "expected"),
    [
        ("0-3\n2,4", None, "line 2 names rank 2 again (line 1 has it already)"),
        ("0-1\n# two is gone\n3", None, "line 3, the last, is reached without rank 2"),
        ("0-6", 8, "line 1, the last, is reached without rank 7"),
        ("0-3\n4-8", 8, "line 2 names rank 8 (the job has 8 ranks, 0 to 7)"),
        ("0-3\n4;5", 8, "line 2 has '4;5'"),
        ("0--3", 8, "line 1 has '0--3'"),
        ("-1,0", 8, "line 1 has '-1'"),
        ("zero", 8, "line 1 has 'zero'"),
        ("0-999999999", None, "line 1 goes too far"),
        ("0,99999999999999999999", None, "line 1 has '99999999999999999999'"),
        ("", None, "it is empty"),
        ("# nothing\n,,\n", 4, "it is empty"),
    ],
)
def test_bad_orders_name_the_line(text: str, ranks: int | None, expected: str) -> None:
    with pytest.raises(HeadraceError) as caught:
        order_file.parse(text, ranks)
    assert expected in str(caught.value)


def test_what_is_written_is_read_again() -> None:
    generator = np.random.default_rng(1)
    for size in (1, 2, 7, 64):
        order = generator.permutation(4 * size)
        order[:size] = np.sort(order[:size])
        text = order_file.written(order, [size, 2 * size, size], ["a comment"])
        assert order_file.parse(text, 4 * size).tolist() == order.tolist()
        assert len(text.splitlines()) == 4


def test_ranges_are_written_up_and_down() -> None:
    assert order_file.written(range(8), [8]) == "0-7\n"
    assert order_file.written([7, 6, 5, 4, 0, 1, 3, 2], [4, 4]) == "7-4\n0,1,3,2\n"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(HeadraceError, match="cannot be read"):
            order_file.read(path)
