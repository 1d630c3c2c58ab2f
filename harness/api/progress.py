"""The interface by which functions of `pgdl` report their progress to a terminal, a notebook or a service."""

from collections.abc import Collection, Sequence

from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall
from harness.execution.run import CallSummary, Plan
from harness.reporter import Reporter
from harness.task.task import Task


class Progress(Reporter):
    """Receives the events of a function of `pgdl`, in the caller's thread. Subclasses show events; this class does not.

    An exception that a method raises, such as `KeyboardInterrupt`, ends the function; finished calls stay recorded.
    """

    def prepared(self, tasks: Sequence[Task], withheld: Collection[str]) -> None:
        """Receive the tasks of a run. Of a call on one of the tasks `withheld`, show nothing but the outcome."""

    def started(self, plan: Plan, records: str) -> None:
        """Receive the plan of a run before its first call, and the name of the database."""

    def advanced(self, call: CallSummary) -> None:
        """Receive a call of a run after it has been made and recorded."""

    def finished(self, n_recorded: int, n_calls: int) -> None:
        """Receive the end of a run: the numbers of recorded and planned calls, which differ after an interruption."""

    def tried(self, call: FinishedCall[PlannedCall]) -> None:
        """Receive a finished call of `pgdl.check`."""


SILENT = Progress()
