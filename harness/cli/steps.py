"""Progress of a command that works through a known number of parts."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Steps:
    """On a terminal a bar with the time that remains; a context that draws it, called once for each finished part."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._all = self._bar.add_task(name, total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self) -> None:
        """Count a part as finished."""
        self._bar.advance(self._all)
