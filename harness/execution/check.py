"""A trial of one submission: a few calls under the real limits, and what they say about the whole run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.execution.machine import Lanes
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.pool import Done, Pool
from harness.execution.run import Clocks
from harness.execution.settings import Settings
from harness.execution.starters import Starters
from harness.sandbox.outcome import Outcome
from harness.sandbox.staging import Staging
from harness.submission import Submission
from harness.task.task import Task

#: A call that is expected to take this share of its limit may as well exceed it.
CAUTION = 0.8


@dataclass(frozen=True)
class Trial:
    """What the trial calls gave; `again` is the first of them made a second time."""

    calls: tuple[PlannedCall, ...]  #: of the whole run
    done: tuple[Done, ...]
    again: Done

    @property
    def passed(self) -> bool:
        """Whether every call returned a finite number."""
        return all(done.result.outcome is Outcome.OK for done in (*self.done, self.again))

    @property
    def repeatable(self) -> bool:
        """Whether the same call gave the same value twice."""
        return self.done[0].result.value == self.again.result.value


def try_submission(
    submission: Submission,
    tasks: Sequence[Task],
    settings: Settings,
    lanes: Lanes,
    models: int,
    warn: Callable[[str], None],
) -> Trial:
    """Call `submission` on `models` models of each task, from the smallest to the largest."""
    calls = plan_calls([submission], tasks, settings)
    chosen = [call for task in tasks for call in _spread([c for c in calls if c.task is task], models)]
    with (
        Staging() as staging,
        Starters(settings, warn) as starters,
        Pool(lanes, settings.limits, staging, starters, Clocks(calls, (), settings).clock) as pool,
    ):
        finished = list(pool.run([chosen[0], *chosen]))
    ordered = {call.key: [done for done in finished if done.planned is call] for call in chosen}
    first = ordered[chosen[0].key]
    return Trial(tuple(calls), (first[0], *(ordered[call.key][0] for call in chosen[1:])), first[1])


def _spread(calls: Sequence[PlannedCall], number: int) -> list[PlannedCall]:
    """Pick calls evenly from the smallest to the largest model."""
    ordered = sorted(calls, key=lambda call: (call.model.n_parameters, call.model.id))
    positions = np.linspace(0, len(ordered) - 1, min(number, len(ordered))).round().astype(int)
    return [ordered[position] for position in positions]


@dataclass(frozen=True)
class Forecast:
    """What a full run is expected to take."""

    models: int
    seconds: float
    at_risk: int  #: calls that may exceed the time limit


def forecast(trial: Trial, settings: Settings, lanes: Lanes) -> Forecast:
    """Interpolate the trial's times over the models' numbers of parameters, task by task."""
    seconds: list[float] = []
    for task in {call.task.name: call.task for call in trial.calls}.values():
        seen = sorted((done for done in trial.done if done.planned.task is task), key=_size)
        sizes, times = [_size(done) for done in seen], [done.result.call_wall_s for done in seen]
        seconds += np.interp([model.n_parameters for model in task.models], sizes, times).tolist()
    overhead = np.mean([done.result.startup_wall_s + done.result.load_wall_s for done in trial.done])
    total = (sum(seconds) + float(overhead) * len(seconds)) / lanes.workers
    return Forecast(len(seconds), total, sum(time > CAUTION * settings.time_limit_s for time in seconds))


def _size(done: Done) -> int:
    return done.planned.model.n_parameters
