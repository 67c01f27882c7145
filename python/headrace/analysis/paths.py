"""Call paths of all nodes as one tree: a path has one number, wherever it was seen."""

from dataclasses import dataclass

from headrace.record.checks import outside_in
from headrace.record.tables import Node

UNKNOWN = -1


@dataclass(frozen=True)
class Frame:
    """A frame of machine code: a module and the offset of its return address in it. Else what a
    Python interpreter ran: `function`, and `line` of it. `module` is a file's name."""

    module: str
    build_id: str
    offset: int
    function: str = ""
    line: int = 0

    @property
    def is_python(self) -> bool:
        return bool(self.function) and not self.build_id


class Paths:
    """Numbers for paths, from which their frames can be had again."""

    def __init__(self) -> None:
        self._frames: list[tuple[int, Frame]] = []
        self._numbers: dict[tuple[int, Frame], int] = {}

    def add(self, node: Node) -> list[int]:
        """The numbers of a node's paths, by their places."""
        table = node["paths"]
        files = node.texts_of("modules", "file")
        builds = node.texts_of("modules", "build_id")
        functions = node.texts_of("paths", "function")
        callers = table["caller"]
        numbers = [UNKNOWN] * table.size
        for row in outside_in(callers) or ():
            module = table["module"][row]
            frame = Frame(
                files[module] if module >= 0 else "",
                builds[module] if module >= 0 else "",
                table["offset"][row],
                functions[row],
                table["line"][row],
            )
            caller = callers[row]
            key = (numbers[caller] if caller >= 0 else UNKNOWN, frame)
            number = self._numbers.setdefault(key, len(self._frames))
            if number == len(self._frames):
                self._frames.append(key)
            numbers[row] = number
        return numbers

    def frames(self, number: int, most: int) -> tuple[Frame, ...]:
        """The frames of a path, `most` of them, the innermost first."""
        found: list[Frame] = []
        while number >= 0 and len(found) < most:
            number, frame = self._frames[number]
            found.append(frame)
        return tuple(found)
