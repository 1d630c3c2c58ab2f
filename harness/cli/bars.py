"""Progress of commands: bars on a terminal, and a line a minute elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TimeRemainingColumn

from harness.cli.current_step import LINE_EVERY_S
from harness.tables import PlainColumn


class Bars:
    """A context that draws bars on a terminal, and nothing elsewhere; subclasses add the bars."""

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
        """Whether to print a line: without a terminal, once a minute; if so, another minute begins."""
        if self._console.is_terminal or now_s - self._line_s < LINE_EVERY_S:
            return False
        self._line_s = now_s
        return True


class Steps(Bars):
    """A context that draws a bar with the remaining time on a terminal; called once for each finished part."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        columns = PlainColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        super().__init__(console, *columns, transient=True)
        self._all = self._bars.add_task(name, total=total, visible=bool(total))

    def __call__(self) -> None:
        """Count a part as finished."""
        self._bars.advance(self._all)
