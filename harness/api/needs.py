"""The inputs that submissions need of a task, and the inputs that its models lack.

The needs of a measure of the library are known before any call. The needs of a participant's file are not: a file may
read `model.initial_weights`, and do without them if they are None. So a run says nothing beforehand; it says so once a
call of the file has failed on a None. `pgdl check` says it in any case: there a participant first meets a task.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.outcome import Outcome
from harness.submission import Submission
from harness.task.task import Task

if TYPE_CHECKING:
    from baselines import Need
    from harness.execution.plan import PlannedCall


def needs_initial_weights(submissions: Iterable[Submission]) -> bool:
    """Whether a submission is a measure of the library that needs the weights before training."""
    from baselines import Need

    return any(Need.INITIAL_WEIGHTS in submission.needs for submission in submissions)


def lacks_initial_weights(call: "PlannedCall") -> bool:
    """Whether a call of a measure of the library fails for certain, because the model lacks its initial weights."""
    return needs_initial_weights([call.submission]) and not call.model.has_initial_weights


def failed_for_initial_weights(outcome: str, message: str) -> bool:
    """Whether a call on a model without initial weights failed because they are missing, judging by its message.

    A measure of the library names the reason; other code fails because it takes None for arrays.
    """
    return outcome == Outcome.EXCEPTION and ("NoneType" in message or "needs the initial weights" in message)


def find_left_out(submissions: Sequence[Submission], tasks: Sequence[Task]) -> dict[tuple[str, str], str]:
    """Return the measures of the library that cannot work on any model of a task: (measure, task) -> the reason."""
    reasons = {task.name: _lacking(task) for task in tasks}
    return {
        (submission.name, name): lacking[need]
        for submission in submissions
        for name, lacking in reasons.items()
        if (need := next((one for one in sorted(submission.needs) if one in lacking), None))
    }


def _lacking(task: Task) -> "Mapping[Need, str]":
    """Return the inputs that all models of a task lack, with the reasons. All models have data and gradients."""
    from baselines import Need

    found = {}
    if not any(model.has_initial_weights for model in task.models):
        found[Need.INITIAL_WEIGHTS] = "needs initial weights, and no model has weights_init.hdf5"
    if task.models[0].n_outputs < 2:
        logits = "needs a logit for each of two classes or more, and the models have one output"
        found |= {Need.CLASSES: logits, Need.LABELS: logits}
    return found
