"""The one exception ./dev reports to the user instead of a traceback."""

from __future__ import annotations

from pathlib import Path

from devtool.paths import shown

TAIL_LINES = 25


class Failure(Exception):
    """A problem, why it is one, what to do; and the log that shows it, if there is one."""

    def __init__(self, problem: str, why: str, action: str, log: Path | None = None) -> None:
        super().__init__(f"{problem} ({why}), {action}")
        self.log = log

    def report(self) -> str:
        if self.log is None or not self.log.exists():
            return f"dev: {self}"
        lines = self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        tail = "\n".join(f"    {line}" for line in lines)
        return f"{tail}\ndev: {self}\n     whole log: {shown(self.log)}"
