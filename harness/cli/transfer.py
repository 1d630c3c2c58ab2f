"""The progress of a download."""

import threading
import time

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

from harness.cli.bars import Bars
from harness.fetch.corpus import Watcher
from harness.tables import PlainColumn
from harness.text import size


class Transfer(Bars, Watcher):
    """A context that shows a download: on a terminal by a bar with the remaining time, elsewhere by a line a minute."""

    def __init__(self, console: Console) -> None:
        columns = PlainColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
        super().__init__(console, *columns, TimeRemainingColumn())
        self._all = self._bars.add_task("asking the server", total=None)
        self._lock = threading.Lock()
        self._total, self._done = 0, 0

    def begin(self, total: int) -> None:
        """Begin a download of `total` bytes."""
        self._total = total
        self._begun_s = self._line_s = time.monotonic()
        self._bars.reset(self._all, description="fetching", total=total)
        if total and not self._console.is_terminal:
            self._console.print(f"fetching: {size(total)}")

    def seen(self, number: int) -> None:
        """Add a number of received bytes."""
        self._bars.advance(self._all, number)
        with self._lock:
            self._done += number
            now_s = time.monotonic()
            if not self._line_is_due(now_s):
                return
        rate = self._done / (now_s - self._begun_s)
        left = f", about {(self._total - self._done) / rate / 60:.0f} min left" if self._total > self._done else ""
        self._console.print(f"fetching: {size(self._done)} of {size(self._total)}, {size(round(rate))}/s{left}")

    def note(self, line: str) -> None:
        """Print a line above the bar."""
        self._console.print(line)
