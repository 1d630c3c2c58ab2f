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
        """Receive a note, for instance that a task has no official score."""

    def warn(self, line: str) -> None:
        """Receive a warning about a fault that the user can mend, or about a wait."""

    def step(self, line: str) -> None:
        """Receive the start of a step that may take a while, such as reading the tasks; the next event ends it."""

    def steps(self, name: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Return a context around work of `total` parts, whose object is called after each part."""
        return nullcontext(lambda: None)

    def prepared(self, tasks: Sequence[Task], withheld: Collection[str]) -> None:
        """Receive the tasks, which are valid; only outcomes of the tasks `withheld` may be shown."""

    def started(self, plan: Plan, records: str) -> None:
        """Receive the plan of a run, which makes the calls that are not in `records` already."""

    def advanced(self, call: CallSummary) -> None:
        """Receive a call of a run that has ended and is recorded."""

    def finished(self, n_recorded: int, n_calls: int) -> None:
        """Receive the end of a run; `n_recorded` is smaller than `n_calls` if the run was interrupted."""

    def tried(self, call: FinishedCall[PlannedCall]) -> None:
        """Receive a call of a check that has ended; nothing is recorded."""


#: Ignores every event.
SILENT = Progress()
