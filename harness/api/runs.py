"""The function `pgdl.run`: calls submissions on every model of every task, and records the calls."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.api.calls import Run, begin_run, open_records, record_calls
from harness.api.execution import UNSAFE, USUAL, Execution
from harness.api.progress import SILENT, Progress
from harness.api.submissions import Argument, find, settle_names
from harness.api.tally import Tally
from harness.board.repetitions import not_deterministic
from harness.configuration import MOST_REPEATS
from harness.credentials import RESULTS, Address
from harness.errors import UserError, UserErrors
from harness.execution.plan import runtime_of
from harness.execution.run import Plan
from harness.submission import Submission, find_problem
from harness.summarized import Summarized
from harness.task import DEFAULT_DIRECTORY


@dataclass(frozen=True, repr=False)
class RunResult(Summarized):
    """The result of a run."""

    plan: Plan  #: all calls
    tally: Tally  #: the outcomes of these calls
    records: str  #: name of the database
    is_sandboxed: bool  #: whether the calls were isolated; otherwise they never rank
    withheld: Sequence[str]  #: names of hidden tasks; only the outcomes of calls on them may be shown
    not_deterministic: Sequence[str]  #: a line on each submission that claims to be deterministic but is not
    refused: Sequence[str]  #: a line on each submission that was not called, such as a file with a syntax error

    @property
    def all_ok(self) -> bool:
        """Whether every submission was called, and every call returned a finite number."""
        return self.tally.all_ok and not self.refused

    @property
    def calls(self) -> list[dict[str, Any]]:
        """A JSON object with outcomes and time for each submission on each task, and another one for repeated calls."""
        return [
            {
                "submission": submission, "task": task, "repeated": repeated, "calls": outcomes.total(),
                "outcomes": {str(outcome): number for outcome, number in outcomes.most_common()},
                "median_seconds": None if task in self.withheld  # times may reveal facts about models
                else statistics.median(self.tally.seconds[submission, task, repeated]),
            }
            for (submission, task, repeated), outcomes in sorted(self.tally.outcomes.items())
        ]  # fmt: skip

    @property
    def content(self) -> dict[str, Any]:
        """The result as a JSON object."""
        return {
            "ok": self.all_ok, "records": self.records, "sandboxed": self.is_sandboxed, "withheld": self.withheld,
            "calls": self.calls, "not_deterministic": self.not_deterministic, "refused": self.refused,
        }  # fmt: skip

    @property
    def summary(self) -> list[str]:
        """The outcomes, problems, and the name of the database, one per line."""
        unsafe = [] if self.is_sandboxed else [UNSAFE]
        return [*self.tally.summary, *self.refused, *self.not_deterministic, *unsafe, f"Records: {self.records}"]


def run(
    submissions: Sequence[Argument] | Argument,
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: Address | Path | str = RESULTS,
    names: Sequence[str] = (),
    as_files: bool = False,
    repeats: int = 0,
    force: bool = False,
    retry_timeouts: bool = False,
    execution: Execution = USUAL,
    progress: Progress = SILENT,
) -> RunResult:
    """Call each submission, sandboxed and time-limited, on every model of every task.

    Every call is recorded as it ends; a second `run` makes only the missing calls. A submission that is refused, for
    instance because of a syntax error or because its name belongs to another submission, is left out.

    Args:
        submissions: paths, names of measures, or Python functions `complexity(model, dataset)`.
        names: names of the submissions that are not measures, in order. If a name is recorded already, the submission
            becomes a new version of the recorded submission.
        as_files: name each submission after its file, and not by its metadata; `names` must be empty.
        repeats: number of times, 0 to 1000, to repeat a quarter of the calls with other seeds. Repetitions never change
            a score.

    Raises:
        UserErrors: all submissions are refused; the message has a line for each.
        UserError: a task or a submission does not exist, a task is invalid, or no sandbox works here.
    """
    if not (isinstance(repeats, int | np.integer) and 0 <= repeats <= MOST_REPEATS):
        raise UserError("repeats", expected=f"0 to {MOST_REPEATS}", found=repr(repeats))
    progress.step("reading the submissions")
    given, refused = find(submissions, names, progress, as_files=as_files)
    flaws = [find_problem(one) for one in given]
    refused += filter(None, flaws)
    found = [one for one, flaw in zip(given, flaws, strict=True) if flaw is None]
    _require_some(found, refused)
    with (
        begin_run(found, Path(tasks_dir), task_names, execution, progress) as run,
        open_records(run, results) as records,
    ):
        runnable, lacking = _with_runtime(run)
        settled, news, unsettled = settle_names(runnable, records, given=bool(names))
        refused += [*lacking, *unsettled]
        _require_some(settled, refused)
        for line in refused:
            progress.warn(f"left out: {line}")
        for line in news:
            progress.note(line)
        run = replace(run, submissions=settled)
        plan, tally = record_calls(run, records, progress, force=force, retry_timeouts=retry_timeouts, repeats=repeats)
        claims = [one.name for one in run.submissions if one.metadata.deterministic] if repeats else []
        rows = records.newest([call.key for call in plan.calls if call.submission.name in claims])
        varying = not_deterministic(rows, claims, run.withheld)
    return RunResult(plan, tally, records.name, run.executor.is_sandboxed, run.withheld, varying, refused)


def _with_runtime(run: Run) -> tuple[list[Submission], list[str]]:
    """Return the submissions whose runtime is installed, and a line on each submission whose runtime is missing."""
    found, lacking = [], []
    for one in run.submissions:
        try:
            run.executor.versions(runtime_of(one, run.settings))
            found.append(one)
        except UserError as error:
            lacking.append(f"{one.source}: {error}")
    return found, lacking


def _require_some(accepted: Sequence[Submission], refused: Sequence[str]) -> None:
    if not accepted:
        raise UserErrors(*refused)
