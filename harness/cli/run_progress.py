"""The progress of a run: a bar per submission on a terminal, plain lines elsewhere."""

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TimeElapsedColumn, TimeRemainingColumn

from harness.api.needs import lacks_initial_weights
from harness.cli.bars import Bars
from harness.execution.plan import PlannedCall
from harness.execution.run import CallSummary
from harness.outcome import Outcome, kind_of_failure
from harness.tables import PlainColumn
from harness.text import counted

#: Maximum number of submissions for a bar each. For more submissions, only the bar of all calls is shown.
SHOWN_LINES = 12

#: Maximum number of different failures of a submission that are printed during the run. The summary counts all.
SHOWN_FAILURES = 5


class RunProgress(Bars):
    """Prints failures as they happen. On a terminal, a bar shows the remaining time of each submission.

    If failures of a submission differ only in numbers, the first failure is printed at once; after the submission's
    last call, a line says how many similar calls there were. Two kinds of failures are only counted: failures for lack
    of initial weights; and failures on the tasks `withheld`, because their messages could reveal facts about models.
    """

    def __init__(self, calls: Sequence[PlannedCall], console: Console, withheld: Collection[str] = ()) -> None:
        super().__init__(
            console, PlainColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            PlainColumn("{task.fields[failed]}"), TimeElapsedColumn(), PlainColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
        )  # fmt: skip
        self._withheld = withheld
        self._left = Counter(call.submission.name for call in calls)
        self._total = dict(self._left)
        self._failed: Counter[str] = Counter()
        #: submission -> kind of failure -> text of the first failure, number of failures
        self._failures: defaultdict[str, dict[tuple[str, str], tuple[str, int]]] = defaultdict(dict)
        width = max(map(len, self._total), default=0)
        self._lines: dict[str, TaskID] = {
            name: self._bars.add_task(
                name.ljust(width), total=number, failed="", start=False, visible=len(self._total) <= SHOWN_LINES
            )
            for name, number in self._total.items()
        }
        self._name = "all".ljust(width)
        self._all = self._bars.add_task(self._name, total=len(calls), failed="", visible=bool(calls))

    def __enter__(self) -> Self:
        super().__enter__()
        if self._lines:
            self._bars.start_task(next(iter(self._lines.values())))
        return self

    def step(self, line: str) -> None:
        """Show a step as the label of the overall progress bar, until the next call ends."""
        self._bars.update(self._all, description=line)

    def seen(self, row: CallSummary) -> None:
        """Count a finished call, and print the call if it failed."""
        name = row.call.submission.name
        self._left[name] -= 1
        if row.outcome != Outcome.OK:
            self._failed[name] += 1
            if row.call.task.name not in self._withheld and not lacks_initial_weights(row.call):
                self._show(name, row)
        failed = f"{self._failed[name]} failed" if self._failed[name] else ""
        self._bars.start_task(self._lines[name])
        self._bars.update(self._lines[name], advance=1, failed=failed)
        self._bars.update(self._all, advance=1, description=self._name)
        if not self._left[name]:
            self._print_repeated(name)
            if not self._console.is_terminal:
                self._console.print(f"{name}: {self._total[name]} calls done{failed and f', {failed}'}")
        if self._line_is_due(time.monotonic()):
            self._print_all()

    def _print_all(self) -> None:
        total, left = sum(self._total.values()), self._left.total()
        seconds = (self._line_s - self._begun_s) / (total - left) * left
        self._console.print(f"{total - left} of {total} calls done, about {seconds / 60:.0f} min left")

    def _show(self, name: str, row: CallSummary) -> None:
        seen, kind = self._failures[name], kind_of_failure(row.outcome, row.message)
        failure, number = seen.get(kind, (f"{row.outcome}: {row.message}", 0))
        seen[kind] = failure, number + 1
        if number:
            return
        if len(seen) <= SHOWN_FAILURES:
            self._console.print(f"{name} on {row.call.where}: {failure}")
        elif len(seen) == SHOWN_FAILURES + 1:
            self._console.print(f"{name}: further failures are counted below")

    def _print_repeated(self, name: str) -> None:
        failures = list(self._failures[name].values())
        for failure, calls in failures[:SHOWN_FAILURES]:
            if calls > 1:
                self._console.print(f"{name}: {counted(calls - 1, 'similar call')}: {failure}")
        if further := sum(calls for _, calls in failures[SHOWN_FAILURES:]):
            self._console.print(f"{name}: {counted(further, 'other call')} failed with other messages")
