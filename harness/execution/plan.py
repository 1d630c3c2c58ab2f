"""Plans the calls of a run: their order, cache keys and seeds."""

import hashlib
import json
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from harness.configuration import Configuration
from harness.errors import UserError
from harness.execution.budget import Budget
from harness.execution.executor import Executor
from harness.execution.order import Order
from harness.execution.repeated_models import choose_repeated
from harness.execution.settings import RunSettings
from harness.sandbox import Limits
from harness.submission import Submission
from harness.task.model import Model
from harness.task.task import Task
from harness.worker.runtimes import DEFAULT, RUNTIMES
from harness.worker.runtimes.keras2 import Keras2

#: The columns of a record from which the cache key of its call is computed.
KEY_COLUMNS = (
    "submission", "submission_digest", "task", "model", "model_digest", "data_digest", "seed", "configuration",
    "repeat",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call of a submission on a model, with all settings and names. Executors receive an `Order` without names."""

    submission: Submission
    task: Task
    model: Model
    configuration: Configuration
    seed: int
    key: str
    limits: Limits
    budget: Budget = field(compare=False)  #: time limit, perhaps shared with other calls
    withheld: bool  #: whether the record leaves out message and output
    repeat: int  #: 0 for the call whose value is scored, 1 and more for repetitions, which differ only in the seed

    @property
    def where(self) -> str:
        """Names of task and model, and number of the repetition, as text."""
        return f"{self.task.name}/{self.model.id}" + (f", repetition {self.repeat}" if self.repeat else "")

    @property
    def runtime(self) -> str:
        """The name of the runtime in which the call is made."""
        return self.configuration.runtime

    @property
    def is_of_2020(self) -> bool:
        """Whether the worker lets the submission use names that libraries had in 2020 (`harness.worker.legacy`)."""
        return self.runtime == Keras2.name and not self.submission.is_baseline

    def order(self, number: int = 0) -> Order:
        """Return the call as an `Order` with this number."""
        return Order(
            number=number,
            key=self.key,
            submission=self.submission.digest,
            is_baseline=self.submission.is_baseline,
            model=self.model.digest,
            data=self.task.data.digest,
            runtime=self.runtime,
            seed=self.seed,
            repeat=self.repeat,
            limits=self.limits,
            allowance=self.budget.allowance,
        )


def plan_calls(
    submissions: Sequence[Submission],
    tasks: Sequence[Task],
    settings: RunSettings,
    executor: Executor,
    repeats: int = 0,
    left_out: Collection[tuple[str, str]] = (),
) -> list[PlannedCall]:
    """Return all calls, by submission, then task, in the given order. The calls on a task are in a secret random order.

    If a submission knew the order, it could conclude from the time of a call which model it is called on. The order is
    drawn anew for each plan, submission and task. No value depends on the order.

    Args:
        submissions: the submissions to call.
        tasks: the tasks on whose models they are called.
        settings: limits, seed and runtime.
        executor: makes the calls; its isolation and versions are part of the configuration.
        repeats: number of repetitions of the calls on some models (`harness.execution.repeated_models`).
        left_out: pairs (name of a submission, name of a task) that get no calls.
    """
    calls = []
    for submission in submissions:
        runtime = runtime_of(submission, settings)
        try:
            versions = executor.versions(runtime)
        except UserError as error:
            raise UserError(str(error), file=submission.name) from error
        configuration = settings.configuration(runtime, executor.isolation, versions)
        digest = submission.digest
        for task in (one for one in tasks if (submission.name, one.name) not in left_out):
            # A repetition must not use up the time budget of the calls that are scored, so it has a budget of its own.
            models, limit = len(task.models), settings.time_limit_s
            budgets = [Budget(settings.time_budget, limit, models) for _ in range(repeats + 1)]
            withheld = settings.withhold.covers(task.hidden)
            for model, repeat in _in_secret_order(task, settings.seed, repeats):
                # The submission learns its seed, so the seed depends only on what the submission may see.
                seed = int(_digest((settings.seed, digest, model.shown_digest), repeat)[:8], 16)
                about = (submission.name, digest, task.name, model.id, model.digest, task.data.digest)
                key = call_key(*about, seed, configuration.id, repeat)
                calls.append(
                    PlannedCall(
                        submission, task, model, configuration, seed, key, settings.limits, budgets[repeat], withheld,
                        repeat,
                    )
                )  # fmt: skip
    return calls


def call_key(*values: str | int) -> str:
    """Return the cache key of a call from the columns `KEY_COLUMNS` of its record, in this order."""
    *about, repeat = values
    return _digest(about, repeat)


def runtime_of(submission: Submission, settings: RunSettings) -> str:
    """Return the name of a submission's runtime. Raise `UserError` for a baseline in a runtime without TensorFlow."""
    runtime = settings.runtime or submission.metadata.runtime or DEFAULT
    if submission.is_baseline and RUNTIMES[runtime].framework != RUNTIMES[DEFAULT].framework:
        message = f"--runtime {runtime}: {submission.name} is a measure of the library, which needs {DEFAULT}"
        raise UserError(message, remedy="name only submissions that are files, or leave the option out")
    return runtime


def _in_secret_order(task: Task, run_seed: int, repeats: int) -> list[tuple[Model, int]]:
    """Return (model, repeat) of all calls on a task in random order; `repeat` is as in `PlannedCall`."""
    repeated = choose_repeated(task.models, run_seed, task.name) if repeats else []
    calls = [(model, 0) for model in task.models]
    calls += [(model, repeat) for repeat in range(1, repeats + 1) for model in repeated]
    random.SystemRandom().shuffle(calls)
    return calls


def _digest(parts: Sequence[str | int], repeat: str | int) -> str:
    """Return the SHA-256 (hex) of the parts and, for a repetition, of its number."""
    return hashlib.sha256(json.dumps([*parts, repeat] if repeat else parts).encode()).hexdigest()
