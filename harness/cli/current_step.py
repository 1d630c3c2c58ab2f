"""The step that a user waits for, on standard error: a spinner on a terminal, a line a minute elsewhere."""

import threading
import time

from rich.console import Console
from rich.status import Status

from harness.printing import say
from harness.tables import plain

#: Seconds between two lines on a step, or on all calls, where there is no terminal.
LINE_EVERY_S = 60.0


class CurrentStep:
    """Shows one step at a time, until it ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spinner: Status | None = None
        self._ended: threading.Event | None = None

    def begin(self, line: str) -> None:
        """Show a step in place of the one before it."""
        self.end()
        if self._console.is_terminal:
            self._spinner = self._console.status(plain(line))
            self._spinner.start()
        elif not self._console.quiet:
            self._ended = threading.Event()
            threading.Thread(target=_tell, args=(line, self._ended), daemon=True).start()

    def end(self) -> None:
        """Stop showing the step."""
        if self._spinner is not None:
            self._spinner.stop()
        if self._ended is not None:
            self._ended.set()
        self._spinner = self._ended = None


def _tell(line: str, ended: threading.Event) -> None:
    begun_s = time.monotonic()
    while not ended.wait(LINE_EVERY_S):
        say(f"pgdl: {line}, for {(time.monotonic() - begun_s) / 60:.0f} min so far", err=True)
