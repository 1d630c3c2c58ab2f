"""The inputs that submissions need of a task, and the inputs that a task's models lack.

The needs of a measure of the library are known before any call. The needs of a participant's file are unknown, because
the file may do without `model.initial_weights` if they are None. Therefore a run notes that models lack these weights
only after a call of a file has failed on a None. `pgdl check`, a participant's first command, notes it in any case.
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
    """Whether a call of a measure of the library is bound to fail, because the model lacks its initial weights."""
    return needs_initial_weights([call.submission]) and not call.model.has_initial_weights


def failed_for_initial_weights(outcome: str, message: str) -> bool:
    """Whether the message of a call on a model without initial weights says that the call failed for lack of them.

    A measure of the library names this reason; a participant's code fails because it uses None as arrays.
    """
    return outcome == Outcome.EXCEPTION and ("NoneType" in message or "needs the initial weights" in message)


def find_left_out(submissions: Sequence[Submission], tasks: Sequence[Task]) -> dict[tuple[str, str], str]:
    """Return (measure, task) -> the reason why this measure of the library cannot work on any model of the task."""
    reasons = {task.name: _lacking(task) for task in tasks}
    return {
        (submission.name, name): lacking[need]
        for submission in submissions
        for name, lacking in reasons.items()
        if (need := next((need for need in sorted(submission.needs) if need in lacking), None))
    }


def _lacking(task: Task) -> "Mapping[Need, str]":
    """Return each input that all models of a task lack -> a text that says so. No model lacks data or gradients."""
    from baselines import Need

    found = {}
    if not any(model.has_initial_weights for model in task.models):
        found[Need.INITIAL_WEIGHTS] = "needs initial weights, and no model has weights_init.hdf5"
    if task.models[0].n_outputs < 2:
        logits = "needs a logit for each of two classes or more, and the models have one output"
        found |= {Need.CLASSES: logits, Need.LABELS: logits}
    return found
