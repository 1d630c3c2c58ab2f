"""Bars on a terminal, and a line a minute where there is none: what commands that show progress have in common."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TimeRemainingColumn

from harness.cli.current_step import LINE_EVERY_S
from harness.tables import PlainColumn


class Bars:
    """A context in which bars are drawn on a terminal, and none elsewhere; subclasses add the bars."""

    def __init__(self, console: Console, *columns: ProgressColumn, transient: bool = False) -> None:
        self._console = console
        self._bars = Progress(*columns, console=console, transient=transient, disable=not console.is_terminal)
        self._begun_s = self._line_s = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def _line_is_due(self, now_s: float) -> bool:
        """Whether there was no line for a minute, and there is no terminal; then another minute begins."""
        if self._console.is_terminal or now_s - self._line_s < LINE_EVERY_S:
            return False
        self._line_s = now_s
        return True


class Steps(Bars):
    """On a terminal a bar with the time that remains; a context that draws it, called once for each finished part."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        columns = PlainColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        super().__init__(console, *columns, transient=True)
        self._all = self._bars.add_task(name, total=total, visible=bool(total))

    def __call__(self) -> None:
        """Count a part as finished."""
        self._bars.advance(self._all)
