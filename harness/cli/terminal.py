"""Progress on the terminal: notes and warnings on standard error, the calls of a run on standard output."""

import sys
from collections.abc import Collection, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console

from harness.cli.bars import Steps
from harness.cli.current_step import CurrentStep
from harness.cli.run_progress import RunProgress
from harness.execution.run import CallSummary, Plan
from harness.printing import say
from harness.tables import wide_console
from harness.task.task import Task
from pgdl import UNSAFE, Progress


class Terminal(Progress):
    """Shows the work to a user at a terminal, or in a log; leaving its context ends the shown step."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._step = CurrentStep(wide_console(quiet=console.quiet, stderr=True))
        self._withheld: Collection[str] = ()
        self._run: RunProgress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._step.end()

    def note(self, line: str) -> None:
        """Print a note, in one line on standard error, where the step was shown."""
        self._step.end()
        note(line)

    def warn(self, line: str) -> None:
        """Print a warning, in one line on standard error, where the step was shown."""
        self._step.end()
        warn(line)

    def step(self, line: str) -> None:
        """Show the step until the next step begins; in a run at a terminal, beside its bar."""
        if self._run is not None and self.console.is_terminal:
            self._run.step(line)
        else:
            self._step.begin(line)

    def steps(self, name: str, total: int) -> Steps:
        """Show a bar of the work."""
        self._step.end()
        return Steps(self.console, name, total)

    def prepared(self, tasks: Sequence[Task], withheld: Collection[str]) -> None:
        """Remember the withheld tasks."""
        self._step.end()
        self._withheld = withheld

    def started(self, plan: Plan, records: str) -> None:
        """Print the number of calls that are left to make."""
        self._step.end()
        if plan.recorded:
            self.console.print(f"{len(plan.recorded)} of {len(plan.calls)} calls are recorded already in {records}")
        self._run = RunProgress(plan.missing, self.console, self._withheld)
        self._run.__enter__()

    def advanced(self, call: CallSummary) -> None:
        """Show that a call has ended."""
        self._step.end()
        assert self._run is not None
        self._run.seen(call)

    def finished(self, n_recorded: int, n_calls: int) -> None:
        """Print the command that continues, if an error or Ctrl-C has ended a run with recorded calls."""
        self._step.end()
        assert self._run is not None
        self._run.__exit__(None, None, None)
        error = sys.exception()
        if n_recorded and (isinstance(error, Exception) or type(error) is KeyboardInterrupt):  # not a container's end
            self.console.print(
                f"At least {n_recorded} of {n_calls} calls are recorded; the same command resumes the run."
            )


def warn(line: str) -> None:
    """Print a warning, in one line on standard error."""
    if line == UNSAFE:
        say(line, err=True, fg="red", bold=True)
    else:
        say(f"pgdl: {line}", err=True, fg="yellow")


def note(line: str) -> None:
    """Print a note, in one line on standard error."""
    say(f"pgdl: {line}", err=True)
