"""Plans the calls of a run: their cache keys, seeds and order."""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.configuration import Configuration
from harness.execution.budget import Budget
from harness.execution.settings import Settings
from harness.sandbox import Limits
from harness.submission import Submission
from harness.task.model import Model
from harness.task.task import Task

if TYPE_CHECKING:
    from harness.execution.executor import Executor


@dataclass(frozen=True)
class PlannedCall:
    """One call: a submission on a model of a task, with everything that an executor needs."""

    submission: Submission
    task: Task
    model: Model
    configuration: Configuration
    seed: int
    key: str
    limits: Limits
    budget: Budget = field(compare=False)  #: of time
    withheld: bool  #: whether its record omits message and output

    @property
    def keras(self) -> int:
        """The version of Keras behind `tf.keras`."""
        return self.configuration.keras

    @property
    def is_of_2020(self) -> bool:
        """Whether the submission is given names that Python and NumPy have removed (`harness.worker.of_2020`)."""
        return self.keras == 2 and not self.submission.is_baseline


def plan_calls(
    submissions: Sequence[Submission], tasks: Sequence[Task], settings: Settings, executor: "Executor"
) -> list[PlannedCall]:
    """Return all calls: submission by submission, task by task, models in a secret order.

    The order is drawn anew in every plan, for each submission and task, because a submission that reads the time, or
    counts its calls, must learn nothing about a model from its position. No value depends on it.
    """
    calls = []
    for submission in submissions:
        keras = settings.keras or submission.metadata.keras or 3
        configuration = settings.configuration(keras, executor.isolation, executor.versions(keras))
        digest = submission.digest
        for task in tasks:
            budget = Budget(settings.time_budget, settings.time_limit_s, len(task.models))
            withheld = settings.withhold.covers(task.hidden)
            models = list(task.models)
            random.SystemRandom().shuffle(models)
            for model in models:
                # The call learns its seed, so the seed may only depend on inputs that the call sees.
                seed = int(_digest(settings.seed, digest, model.shown_digest)[:8], 16)
                about = (submission.name, digest, task.name, model.id, model.digest, task.data.digest)
                key = _digest(*about, seed, configuration.id)
                calls.append(
                    PlannedCall(submission, task, model, configuration, seed, key, settings.limits, budget, withheld)
                )
    return calls


def _digest(*parts: str | float) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
