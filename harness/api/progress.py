"""The interface through which a terminal, a notebook, a log or a service shows the progress of work."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext

from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall
from harness.execution.run import CallSummary, Plan
from harness.task.task import Task


class Progress:
    """Receives what happens, in the thread that called the API. Nothing is shown unless a subclass does.

    An exception from a method, such as `KeyboardInterrupt`, ends the work; finished calls stay recorded.
    """

    def note(self, line: str) -> None:
        """Something to know, for instance that a task has no official score."""

    def warn(self, line: str) -> None:
        """Something to mend, or to wait for."""

    def step(self, line: str) -> None:
        """A step has begun that may take a while, such as reading the tasks; it lasts until the next event."""

    def steps(self, name: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Work of so many parts begins: a context, whose object is called after each part."""
        return nullcontext(lambda: None)

    def prepared(self, tasks: Sequence[Task], withheld: Collection[str]) -> None:
        """The tasks have been read and are valid; of those `withheld` only outcomes are shown."""

    def started(self, plan: Plan, records: str) -> None:
        """A run begins, which makes those calls that are not in `records` already."""

    def advanced(self, call: CallSummary) -> None:
        """A call of a run has ended and is recorded."""

    def finished(self, n_recorded: int, n_calls: int) -> None:
        """A run has ended: fewer calls are recorded than planned if it was interrupted."""

    def tried(self, call: FinishedCall[PlannedCall]) -> None:
        """A call of a check has ended; nothing is recorded."""


#: Shows nothing.
SILENT = Progress()
