"""Progress of commands: bars and spinners on a terminal, elsewhere a line a minute."""

import threading
import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TimeRemainingColumn

from harness.printing import say
from harness.tables import PlainColumn, plain

LINE_EVERY_S = 60.0  #: seconds between two lines of progress if the output is not a terminal


class Bars:
    """A context that draws bars on a terminal, and nothing elsewhere. Subclasses add the bars."""

    def __init__(self, console: Console, *columns: ProgressColumn, transient: bool = False) -> None:
        self._console = console
        self._bars = Progress(*columns, console=console, transient=transient, disable=not console.is_terminal)
        self._begun_s = self._line_s = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def _line_is_due(self, now_s: float) -> bool:
        if self._console.is_terminal or now_s - self._line_s < LINE_EVERY_S:
            return False
        self._line_s = now_s
        return True


class Steps(Bars):
    """A bar with the remaining time of some work. Calling the object counts one more part of the work as finished."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        columns = PlainColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        super().__init__(console, *columns, transient=True)
        self._all = self._bars.add_task(name, total=total, visible=bool(total))

    def __call__(self) -> None:
        """Count a part of the work as finished."""
        self._bars.advance(self._all)


class CurrentStep:
    """Shows the step that a user waits for, on standard error: by a spinner on a terminal, else by a line a minute."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stop: Callable[[], None] | None = None

    def begin(self, line: str) -> None:
        """Show a step in place of the step before it."""
        self.end()
        if self._console.is_terminal:
            spinner = self._console.status(plain(line))
            spinner.start()
            self._stop = spinner.stop
        elif not self._console.quiet:
            ended = threading.Event()
            threading.Thread(target=_tell, args=(line, ended), daemon=True).start()
            self._stop = ended.set

    def end(self) -> None:
        """Stop showing the step."""
        if self._stop is not None:
            self._stop()
        self._stop = None


def _tell(line: str, ended: threading.Event) -> None:
    begun_s = time.monotonic()
    while not ended.wait(LINE_EVERY_S):
        say(f"pgdl: {line}, for {(time.monotonic() - begun_s) / 60:.0f} min so far", err=True)
