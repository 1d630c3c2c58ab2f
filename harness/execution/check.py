"""A trial of one submission: a few calls under the real limits, and a forecast of the full run."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from harness.execution.dispatch import Done, make
from harness.execution.executor import Executor
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings
from harness.outcome import Outcome
from harness.submission import Submission
from harness.task.some_models import Wanted, size_of, some_models
from harness.task.task import Task

#: Share of the time limit from which a call is at risk of exceeding it.
CAUTION = 0.8


@dataclass(frozen=True)
class Trial:
    """The results of the trial calls.

    Attributes:
        calls: the calls of the full run.
        done: the trial's calls, task by task from the smallest to the largest model.
        again: a repetition of the call on the smallest model.
        start_s: seconds until the executor was ready for calls.
        calls_s: seconds from then to the end of the last call.
    """

    calls: tuple[PlannedCall, ...]
    done: tuple[Done, ...]
    again: Done
    start_s: float
    calls_s: float

    @property
    def passed(self) -> bool:
        """Whether every call returned a finite number."""
        return all(done.result.outcome is Outcome.OK for done in (*self.done, self.again))

    @property
    def first(self) -> Done:
        """The call that `again` repeats."""
        return next(done for done in self.done if done.planned is self.again.planned)

    @property
    def repeatable(self) -> bool:
        """Whether the repeated call returned the same value."""
        return self.first.result.value == self.again.result.value


@dataclass(frozen=True)
class Watch:
    """Callbacks for progress: `say` receives the current step, `seen` every finished call."""

    say: Callable[[str], None]
    seen: Callable[[Done], None]


def try_submission(
    submission: Submission,
    tasks: Sequence[Task],
    settings: RunSettings,
    executor: Executor,
    models: Wanted,
    watch: Watch,
) -> Trial:
    """Call `submission` on some models of each task, see `some_models`; the smallest first."""
    calls = plan_calls([submission], tasks, settings, executor)
    planned = {(call.task.name, call.model.id): call for call in calls}
    chosen = [planned[task.name, model.id] for task in tasks for model in some_models(task, models)]
    in_order = sorted(chosen, key=_size_of)
    begun = time.monotonic()
    watch.say("preparing the sandbox, which may import the framework once")
    executor.prepare({call.runtime for call in in_order})
    ready = time.monotonic()
    watch.say(f"calling {submission.name} on {len(chosen)} models, the smallest first")
    finished: dict[str, list[Done]] = {}
    with closing(make(executor, [in_order[0], *in_order])) as ended:
        for done in ended:
            earlier = finished.setdefault(done.planned.key, [])
            earlier.append(done)
            if len(earlier) == 1:
                watch.seen(done)
    first, again = finished[in_order[0].key]
    ordered = tuple(first if call is in_order[0] else finished[call.key][0] for call in chosen)
    return Trial(tuple(calls), ordered, again, ready - begun, time.monotonic() - ready)


def _size_of(call: PlannedCall) -> tuple[int, str]:
    return size_of(call.model)


@dataclass(frozen=True)
class Forecast:
    """The expected cost of a full run."""

    models: int
    seconds: float
    at_risk: int  #: calls that may exceed the time limit


def forecast(trial: Trial, settings: RunSettings, workers: int) -> Forecast:
    """Interpolate the times of calls over the models' numbers of parameters, task by task.

    The overhead of a call is estimated from the total time of the trial, and so includes other load on the machine.
    """
    seconds: list[float] = []
    for task in {call.task.name: call.task for call in trial.calls}.values():
        seen = sorted(
            (done for done in trial.done if done.planned.task is task), key=lambda done: _size_of(done.planned)
        )
        sizes, times = [_size_of(done.planned)[0] for done in seen], [done.result.call_wall_s for done in seen]
        seconds += np.interp([model.n_parameters for model in task.models], sizes, times).tolist()
    made = [*trial.done, trial.again]
    side_by_side = min(workers, len(made))
    called_s = sum(done.result.call_wall_s for done in made) / side_by_side
    overhead_s = max(trial.calls_s - called_s, 0.0) / len(made)
    total = trial.start_s + sum(seconds) / workers + overhead_s * len(seconds)
    return Forecast(len(seconds), total, sum(time > CAUTION * settings.time_limit_s for time in seconds))
