"""Progress of the demo: a live line on a terminal, plain lines elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


class DemoProgress:
    """Shows what is being done, and how much of `seconds` has gone by. A context manager."""

    def __init__(self, console: Console, seconds: float):
        self._console = console
        self._seconds = seconds
        self._begin = time.monotonic()
        self._live: Progress | None = None
        if console.is_terminal:
            self._live = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            self._task = self._live.add_task("starting", total=seconds)

    def __enter__(self) -> "DemoProgress":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._begin

    def tell(self, text: str) -> None:
        """Something is being done now."""
        if self._live is None:
            self._console.print(f"[{self.elapsed:3.0f} s] {text}", markup=False, highlight=False)
        else:
            done = min(self.elapsed, self._seconds)
            self._live.update(self._task, description=text, completed=done)
