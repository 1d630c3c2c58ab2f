"""Estimates the time of a full run from the calls of a trial."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

import numpy as np

from harness.execution.budget import TimeBudget
from harness.execution.check import Trial
from harness.execution.order import FinishedCall
from harness.execution.partial_calls import CallsOnParts, Place, place_of
from harness.execution.plan import PlannedCall
from harness.execution.settings import RunSettings
from harness.task.selection import size_of
from harness.task.task import Task
from harness.text import duration

#: Fraction of the time limit. A call of the trial that takes longer may exceed the limit in the full run.
CAUTION = 0.8


@dataclass(frozen=True)
class Forecast:
    """The expected time of a full run."""

    models: int  #: number of calls of the full run
    seconds: float  #: expected duration
    at_risk: int  #: number of calls that may exceed the time limit
    least_s: float  #: lower bound of the duration, less than `seconds` if calls were made on parts of the data

    def __str__(self) -> str:
        low, high = duration(self.least_s), duration(self.seconds)
        time = f"about {high}" if low == high else f"between {low} and {high}"
        risk = f", {self.at_risk} may exceed the time limit" if self.at_risk else ""
        return f"A full run: {self.models} models, {time}{risk}."


def forecast(trial: Trial, settings: RunSettings, workers: int) -> Forecast:
    """Forecast a full run: within a task, call times are interpolated over the models' numbers of parameters.

    The overhead of a call is estimated from the duration of the trial, so it includes other load on the machine. If the
    trial has calls on parts of the data, the overhead cannot be estimated, and counts as 0.
    """
    least, seconds = _call_times(trial)
    made = [*trial.done, trial.again]
    side_by_side = min(workers, len(made))
    called_s = sum(done.result.call_wall_s for done in made) / side_by_side
    overhead_s = 0.0 if trial.partial else max(trial.calls_s - called_s, 0.0) / len(made)
    besides = trial.start_s + overhead_s * len(seconds)
    at_risk = _at_risk(trial, seconds, settings)
    return Forecast(len(seconds), besides + sum(seconds) / workers, at_risk, besides + sum(least) / workers)


def _at_risk(trial: Trial, seconds: Sequence[float], settings: RunSettings) -> int:
    limit_s = CAUTION * settings.time_limit_s
    if settings.time_budget is TimeBudget.EACH:
        return sum(time > limit_s for time in seconds)
    found, remaining = 0, iter(seconds)
    for task in _tasks(trial):
        times = sorted(islice(remaining, len(task.models)))
        found += sum(total > limit_s * len(times) for total in accumulate(times))
    return found


def _tasks(trial: Trial) -> list[Task]:
    return list({call.task.name: call.task for call in trial.calls}.values())


def _call_times(trial: Trial) -> tuple[list[float], list[float]]:
    """Return two lists with an entry for each model: lower bounds and estimates of the seconds of a call on it."""
    least, most = list[float](), list[float]()
    for task in _tasks(trial):
        of_task = [done for done in trial.done if done.call.task.name == task.name]
        seen = sorted(of_task, key=lambda done: size_of(done.call.model))
        sizes = [done.call.model.n_parameters for done in seen]
        ends = zip(*(_seconds_of(done, trial.partial) for done in seen), strict=True)
        for found, times in zip((least, most), ends, strict=True):
            found += np.interp([model.n_parameters for model in task.models], sizes, times).tolist()
    return least, most


def _seconds_of(done: FinishedCall[PlannedCall], partial: Mapping[Place, CallsOnParts]) -> tuple[float, float]:
    place, wall = place_of(done.call), done.result.call_wall_s
    return partial[place].seconds if place in partial else (wall, wall)
