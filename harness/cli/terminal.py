"""The progress of a function of `pgdl` on the terminal, or in a log."""

import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Self

import click
from rich.console import Console

from harness.cli.bars import CurrentStep, Steps
from harness.cli.run_progress import RunProgress
from harness.execution.run import CallSummary, Plan
from harness.printing import say
from harness.tables import wide_console
from harness.task.task import Task
from pgdl import UNSAFE, Progress


class Terminal(Progress):
    """Shows notes, warnings and the current step on standard error, and the calls of a run on a console."""

    def __init__(self, console: Console | None = None, *, quiet: bool = False) -> None:
        self.console = wide_console() if console is None else console
        self._quiet = quiet
        self._step = CurrentStep(wide_console(quiet=self.console.quiet, stderr=True))
        self._withheld: Collection[str] = ()
        self._run: RunProgress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._step.end()

    def note(self, line: str) -> None:
        """Print a note in place of the current step, unless the command is quiet."""
        self._step.end()
        if not self._quiet:
            note(line)

    def warn(self, line: str) -> None:
        """Print a warning in place of the current step, even if the command is quiet."""
        self._step.end()
        warn(line)

    def step(self, line: str) -> None:
        """Show a step until the next step begins. During a run on a terminal, the step is the label of the bar."""
        if self._run is not None and self.console.is_terminal:
            self._run.step(line)
        else:
            self._step.begin(line)

    def steps(self, name: str, total: int) -> Steps:
        """Return a bar for work that has `total` parts."""
        self._step.end()
        return Steps(self.console, name, total)

    def prepared(self, tasks: Sequence[Task], withheld: Collection[str]) -> None:
        """Remember the hidden tasks, whose failures are not printed."""
        self._step.end()
        self._withheld = withheld

    def started(self, plan: Plan, records: str) -> None:
        """Print how many calls are recorded already, and show progress bars for the others."""
        self._step.end()
        if plan.recorded:
            self.console.print(f"{len(plan.recorded)} of {len(plan.calls)} calls are recorded already in {records}")
        self._run = RunProgress(plan.missing, self.console, self._withheld)
        self._run.__enter__()

    def advanced(self, call: CallSummary) -> None:
        """Update the bars, and print the call if it failed."""
        self._step.end()
        assert self._run is not None
        self._run.seen(call)

    def finished(self, n_recorded: int, n_calls: int) -> None:
        """Close the bars. If an error or Ctrl-C has ended the run, print that the same command resumes it."""
        self._step.end()
        assert self._run is not None
        self._run.__exit__(None, None, None)
        error = sys.exception()
        # A subclass of KeyboardInterrupt ends a run in a container of Codabench, where nobody can resume the run.
        if n_recorded and (isinstance(error, Exception) or type(error) is KeyboardInterrupt):
            context = click.get_current_context(silent=True)
            forced = " without --force" if context is not None and context.params.get("force") else ""
            resumes = f"the same command{forced} resumes the run"
            self.console.print(f"Recorded: at least {n_recorded} of {n_calls} calls; {resumes}.")


def warn(line: str) -> None:
    """Print a warning, in one line on standard error."""
    if line == UNSAFE:
        say(line, err=True, fg="red", bold=True)
    else:
        say(f"pgdl: {line}", err=True, fg="yellow")


def note(line: str) -> None:
    """Print a note, in one line on standard error."""
    say(f"pgdl: {line}", err=True)


def written(files: Iterable[Path], *, quiet: bool) -> None:
    """Print the names of written files, in one line on standard error, unless `quiet`."""
    if not quiet:
        say(f"Written: {', '.join(map(str, files))}", err=True)
