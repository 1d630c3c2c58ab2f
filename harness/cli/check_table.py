"""The terminal output of `pgdl check`: a row for each finished call, then outputs, and the verdict."""

from collections.abc import Collection, Sequence

from rich.console import Console
from rich.status import Status

from harness.api.tally import describe_outcomes
from harness.ci.annotations import without_libraries
from harness.cli.summary import WITHHELD_NOTE
from harness.cli.terminal import Terminal
from harness.execution.check import WHOLE_CALL_S, Trial
from harness.execution.order import FinishedCall
from harness.execution.partial_calls import CallsOnParts
from harness.execution.plan import PlannedCall
from harness.outcome import LONGEST_OUTPUT_TAIL, Outcome
from harness.tables import plain, print_lines
from harness.task.selection import PartOfData, size_of
from harness.task.task import Task
from harness.task.task_notes import outputs_of
from harness.text import counted
from pgdl import CheckReport

LINES = 20  #: number of lines that are shown from the end of a call's output

HEADINGS = ("task", "model", "parameters", "outcome", "value", "seconds", "MiB")


class CallTable:
    """Prints the finished calls of a check as a table; leaves out calls on the tasks `withheld`."""

    def __init__(self, tasks: Sequence[Task], withheld: Collection[str], console: Console) -> None:
        self._console, self._withheld = console, withheld
        models = [(task.name, model.id, f"{model.n_parameters:,}") for task in tasks for model in task.models]
        task, model, size = (max(map(len, column)) for column in zip(HEADINGS[:3], *models, strict=True))
        self._line = f"{{:{task}}}  {{:{model}}}  {{:>{size}}}  {{:9}}  {{:>11}}  {{:>7}}  {{:>6}}"
        self._has_rows = False

    def add(self, done: FinishedCall[PlannedCall]) -> None:
        """Print the row of a finished call."""
        if done.call.task.name in self._withheld:
            return
        if not self._has_rows:
            self._console.print(self._line.format(*HEADINGS), style="bold")
        self._has_rows = True
        result, call = done.result, done.call
        value = "-" if result.value is None else f"{result.value:.6g}"
        memory = f"{result.peak_memory_bytes / 1024**2:.0f}"
        size, seconds = f"{call.model.n_parameters:,}", f"{result.call_wall_s:.2f}"
        row = self._line.format(call.task.name, call.model.id, size, result.outcome, value, seconds, memory)
        if isinstance(data := call.task.data, PartOfData):
            row += f"  on {data.n_samples:,} of {data.whole.n_samples:,} examples"
        self._console.print(row, style=None if result.outcome is Outcome.OK else "red")


class CheckTerminal(Terminal):
    """Shows the progress of a check: whether the models' outputs are logits, each finished call, the current step."""

    def __init__(self, console: Console, status: Status) -> None:
        super().__init__(console)
        self._status = status
        self.table: CallTable | None = None  #: None until the tasks are known

    def step(self, line: str) -> None:
        """Show the step beside the spinner."""
        self._status.update(plain(line))

    def prepared(self, tasks: Sequence[Task], withheld: Collection[str]) -> None:
        """Print whether the models' outputs are logits, and begin the table."""
        for task in tasks:
            if task.name not in withheld:
                self.console.print(f"{task.name}: outputs are {outputs_of(task)}")
        self.table = CallTable(tasks, withheld, self.console)

    def tried(self, call: FinishedCall[PlannedCall]) -> None:
        """Print the row of a finished call."""
        assert self.table is not None
        self.table.add(call)


def print_outputs(report: CheckReport, console: Console) -> None:
    """Print the last lines of output of the first call and of each distinct failure."""
    first = min(report.shown, key=lambda done: size_of(done.call.model), default=None)
    succeeded = [first] if first is not None and first.result.outcome is Outcome.OK else []
    for done in [*succeeded, *report.failures]:
        result = done.result
        lines = without_libraries(result.output_tail.rstrip().splitlines())
        if not lines and not result.message:
            continue
        said = f"{result.outcome}: {result.message}" if result.message else "printed"
        print_lines(console, ["", f"{done.call.where}: {said}"], style="none")
        if len(lines) > LINES:
            kept = f"at most {LONGEST_OUTPUT_TAIL:,} characters are kept"
            lines = [f"... earlier lines ({kept}): pgdl check --format json", *lines[-LINES:]]
        print_lines(console, [f"  | {line}" for line in lines])


def print_verdict(report: CheckReport, console: Console) -> None:
    """Print the verdict of a check, its warnings, and the forecast of a full run."""
    name = report.submission.name
    for task, counts in report.counts.items():
        console.print(f"{task}: {describe_outcomes(counts)}")
    if report.withheld:
        print_lines(console, [WITHHELD_NOTE.format(", ".join(report.withheld))])
    if report.submission.problem is not None:
        console.print(f"INVALID_SUBMISSION: {report.submission.problem}")
    console.print()
    if report.undecided and report.trial is not None:
        console.print(f"{name}: no verdict: {_why_undecided(report.trial, report.withheld)}.", style="bold red")
        console.print("pgdl check --whole-calls waits for whole calls.")
        return
    if not report.passed:
        console.print(f"{name} does not pass: fix it and check again.", style="bold red")
        return
    console.print(f"{name} passes.", style="bold green")
    for warning in report.warnings:
        console.print(f"Warning: {warning}.", style="yellow")
    if report.forecast is not None:
        console.print(str(report.forecast))
    if report.partial:
        of_library = " pgdl measures --cost counts its passes." if report.submission.is_baseline else ""
        print_lines(console, [_of_parts(report.partial) + of_library])


def _why_undecided(trial: Trial, withheld: Collection[str]) -> str:
    stopped = f"whole calls were stopped after {WHOLE_CALL_S:g} s"
    unknown = [one.last.done.result for one in trial.partial.values() if one.is_unknown]
    if any(result.outcome is not Outcome.TIMEOUT for result in unknown):
        return f"{stopped}, and calls on parts of the training data failed, although whole calls may succeed"
    if withheld:
        return f"{stopped}, and so were calls on parts of the training data"
    return f"{stopped}, and a call was {unknown[0].message}"


def _of_parts(partial: Sequence[CallsOnParts]) -> str:
    number = max(one.last.n_examples for one in partial)
    models = counted(len(partial), "model")
    return (
        f"On {models}, whole calls would have taken longer than {WHOLE_CALL_S:g} s: values and times are of calls on "
        f"up to {number:,} of the training examples. The forecast's upper end is for a measure whose time grows with "
        "the number of examples, the lower end for a measure that reads only these. pgdl check --whole-calls waits."
    )
