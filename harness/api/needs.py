"""Finds out whether models lack an input that a submission needs, such as the weights before training.

A measure of the library states its needs. A participant's code may work without `model.initial_weights`, which is None
if the model has none. So a run notes missing initial weights only after a failure that suggests this cause. `pgdl
check` always notes them when it checks a participant's code.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.outcome import Outcome
from harness.submission import Submission
from harness.task.task import Task

if TYPE_CHECKING:
    from baselines import Need
    from harness.execution.plan import PlannedCall


def lacks_initial_weights(call: "PlannedCall") -> bool:
    """Whether a call must fail because its measure needs initial weights and its model lacks them."""
    from baselines import Need

    return Need.INITIAL_WEIGHTS in call.submission.needs and not call.model.has_initial_weights


def failed_for_initial_weights(outcome: str, message: str) -> bool:
    """Whether outcome and message of a failed call suggest that the submission needs initial weights."""
    return outcome == Outcome.EXCEPTION and ("NoneType" in message or "needs the initial weights" in message)


def find_left_out(submissions: Sequence[Submission], tasks: Sequence[Task]) -> dict[tuple[str, str], str]:
    """Return (measure, task) -> the reason why the measure of the library can work on no model of the task."""
    reasons = {task.name: _lacking(task) for task in tasks}
    return {
        (submission.name, name): lacking[need]
        for submission in submissions
        for name, lacking in reasons.items()
        if (need := next((need for need in sorted(submission.needs) if need in lacking), None))
    }


def _lacking(task: Task) -> "Mapping[Need, str]":
    from baselines import Need

    found = {}
    if not any(model.has_initial_weights for model in task.models):
        found[Need.INITIAL_WEIGHTS] = "needs initial weights, and no model has weights_init.hdf5"
    if task.models[0].n_outputs < 2:
        logits = "needs a logit for each of two classes or more, and the models have one output"
        found |= {Need.CLASSES: logits, Need.LABELS: logits}
    return found
