"""The function `pgdl.run`: calls submissions on every model of every task, and records the calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.api.calls import begin_run, open_records, record_calls
from harness.api.execution import UNSAFE, USUAL, Execution
from harness.api.progress import SILENT, Progress
from harness.api.submissions import Argument, Confirm, endless_repeat, find, settle_names
from harness.api.summarized import Summarized
from harness.api.tally import Tally
from harness.board.repetitions import not_deterministic
from harness.credentials import RESULTS, Address
from harness.errors import UserErrors
from harness.execution.run import Plan
from harness.submission import Submission, find_problem
from harness.task import DEFAULT_DIRECTORY


@dataclass(frozen=True, repr=False)
class RunResult(Summarized):
    """The result of a run."""

    plan: Plan  #: all calls
    tally: Tally  #: the outcomes of these calls
    records: str  #: name of the database
    is_sandboxed: bool  #: whether the calls were isolated; otherwise they never rank
    withheld: Sequence[str]  #: names of hidden tasks: of calls on them, only outcomes may be shown
    not_deterministic: Sequence[str]  #: a line on each submission that claims to be deterministic but is not
    refused: Sequence[str]  #: a line on each submission that was not called, because every call would fail

    @property
    def all_ok(self) -> bool:
        """Whether every submission was called, and every call returned a finite number."""
        return self.tally.all_ok and not self.refused

    @property
    def summary(self) -> list[str]:
        """The outcomes, what is wrong, and the name of the database."""
        unsafe = [] if self.is_sandboxed else [UNSAFE]
        return [*self.tally.summary, *self.refused, *self.not_deterministic, *unsafe, f"Records: {self.records}"]


def run(
    submissions: Sequence[Argument] | Argument,
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: Address | Path | str = RESULTS,
    names: Sequence[str] = (),
    repeats: int = 0,
    force: bool = False,
    retry_timeouts: bool = False,
    execution: Execution = USUAL,
    progress: Progress = SILENT,
    confirm: Confirm = lambda _: False,
) -> RunResult:
    """Call each submission, sandboxed and time-limited, on every model of every task.

    Every call is recorded as it ends; a second `run` makes only the missing calls. A submission with a flaw that is
    found without a model, such as a syntax error, is left out.

    Args:
        submissions: paths, names of measures, or Python functions `complexity(model, dataset)`.
        names: names of the submissions that are not measures, in order. If a name is recorded already, the submission
            becomes a new version of the recorded submission.
        repeats: number of times to repeat a quarter of the calls with other seeds; repetitions never change a score.
        confirm: is asked whether a submission is a new version of a recorded submission, and returns the answer.

    Raises:
        UserError: a task or every submission is missing or invalid, no sandbox works here, or a name belongs to another
            submission.
    """
    progress.step("reading the submissions")
    found, refused = _refuse_flawed(find(submissions, names, progress), progress)
    with (
        begin_run(found, Path(tasks_dir), task_names, execution, progress) as run,
        open_records(run, results) as records,
    ):
        settled, news = settle_names(run.submissions, records, given=bool(names), confirm=confirm)
        for line in news:
            progress.note(line)
        run = replace(run, submissions=settled)
        plan, tally = record_calls(run, records, progress, force=force, retry_timeouts=retry_timeouts, repeats=repeats)
        for one in run.submissions:
            if tally.timed_out(one.name) and (endless := endless_repeat(one)):
                progress.warn(f"{one.name}: {endless}")
        claims = [one.name for one in run.submissions if one.metadata.deterministic] if repeats else []
        rows = records.newest([call.key for call in plan.calls if call.submission.name in claims])
        varying = not_deterministic(rows, claims, run.withheld)
    return RunResult(plan, tally, records.name, run.executor.is_sandboxed, run.withheld, varying, refused)


def _refuse_flawed(found: Sequence[Submission], progress: Progress) -> tuple[list[Submission], list[str]]:
    flaws = {one.name: flaw for one in found if (flaw := find_problem(one)) is not None}
    if len(flaws) == len(found):
        raise UserErrors(*flaws.values())
    for name, flaw in flaws.items():
        progress.warn(f"{name} is left out, nothing of it is recorded: {flaw}")
    return [one for one in found if one.name not in flaws], list(flaws.values())
