"""Which calls a run consists of, what makes each of them the same call again, and in which order they go."""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from harness.configuration import Configuration
from harness.execution.settings import Settings
from harness.submission import Submission
from harness.task.model import Model
from harness.task.task import Task


@dataclass(frozen=True)
class PlannedCall:
    """One call to make: a submission on a model of a task."""

    submission: Submission
    task: Task
    model: Model
    configuration: Configuration
    seed: int
    key: str

    @property
    def keras(self) -> int:
        """Which Keras `tf.keras` means."""
        return self.configuration.keras

    @property
    def is_of_2020(self) -> bool:
        """Whether the submission is given names that Python and NumPy have removed (`harness.worker.of_2020`)."""
        return self.keras == 2 and not self.submission.is_baseline


def plan_calls(submissions: Sequence[Submission], tasks: Sequence[Task], settings: Settings) -> list[PlannedCall]:
    """Return all calls: submission by submission, task by task, models in a secret order.

    It is drawn anew every time: a submission that reads the time, or counts its calls, must learn nothing about
    a model from its place. No value depends on it.
    """
    calls = []
    for submission in submissions:
        configuration = settings.configuration(settings.keras or submission.metadata.keras or 3)
        digest = submission.digest
        for task in tasks:
            models = list(task.models)
            random.SystemRandom().shuffle(models)
            for model in models:
                # The call is told its seed, so that depends on nothing which the call is not shown.
                seed = int(_digest(settings.seed, digest, model.shown_digest)[:8], 16)
                about = (submission.name, digest, task.name, model.id, model.digest, task.data.digest)
                key = _digest(*about, seed, configuration.id)
                calls.append(PlannedCall(submission, task, model, configuration, seed, key))
    return calls


def _digest(*parts: str | float) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
