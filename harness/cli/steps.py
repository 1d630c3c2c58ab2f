"""Progress of a command that works through a known number of parts."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

from harness.cli.bars import Bars
from harness.tables import PlainColumn


class Steps(Bars):
    """On a terminal a bar with the time that remains; a context that draws it, called once for each finished part."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        columns = PlainColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        super().__init__(console, *columns, transient=True)
        self._all = self._bars.add_task(name, total=total)

    def __call__(self) -> None:
        """Count a part as finished."""
        self._bars.advance(self._all)
