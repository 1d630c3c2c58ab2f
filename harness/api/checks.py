"""The function `pgdl.check`: tries a submission in the same sandbox as a full run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.api.calls import begin_run, note_initial_weights
from harness.api.check_report import CheckReport
from harness.api.execution import USUAL, Execution
from harness.api.progress import SILENT, Progress
from harness.api.submissions import Argument, find
from harness.errors import UserError, UserErrors
from harness.execution.check import WHOLE_CALL_S, try_submission
from harness.execution.evaluation import unused_gpu
from harness.execution.forecast import forecast
from harness.submission import find_problem
from harness.task import DEFAULT_DIRECTORY
from harness.task.selection import ModelSelection, require_known

MODELS = 3  #: default number of models of each task on which a check calls the submission


def check(
    submission: Argument,
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    models: ModelSelection = MODELS,
    names: Sequence[str] = (),
    whole_calls: bool = False,
    execution: Execution = USUAL,
    progress: Progress = SILENT,
) -> CheckReport:
    """Try a submission on a few models of each task; nothing is recorded.

    One call is made twice with the same seed, to see whether its value is repeatable. A call that takes longer than
    `WHOLE_CALL_S` seconds is stopped, and replaced by calls on parts of the training data.

    Args:
        submission: a path, the name of a measure, or a Python function `complexity(model, dataset)`.
        names: empty, or a single name that replaces the submission's own name.
        whole_calls: wait for each call, instead of stopping it after `WHOLE_CALL_S` seconds.

    Raises:
        UserError: a task or the submission is missing or invalid, or no sandbox works here.
    """
    several, refused = find(submission, names, progress)
    if len(several) + len(refused) > 1:
        raise UserError("submission", expected="a path, the name of a measure, or a function", found=repr(submission))
    if refused:
        raise UserErrors(*refused)
    (found,) = several
    if problem := find_problem(found):
        return CheckReport(replace(found, problem=problem))
    with begin_run([found], Path(tasks_dir), task_names, execution, progress) as run:
        if not found.is_baseline:
            note_initial_weights(run.shown, progress)
        require_known(run.tasks, models)
        patience_s = None if whole_calls else WHOLE_CALL_S
        trial = try_submission(
            found, run.tasks, run.settings, run.executor, models, patience_s, say=progress.step, seen=progress.tried
        )
    for problem in {unused_gpu(done) for done in trial.done} - {None}:
        progress.warn(str(problem))
    expected = forecast(trial, run.settings, run.executor.workers) if trial.passed and not run.withheld else None
    return CheckReport(found, trial, expected, run.withheld)
