"""The function `pgdl.forecast_costs`: seconds and memory of measures on a task, from passes timed in the sandbox."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from baselines import MEASURES, Measure, Sizes
from harness.api.calls import Run, begin_run
from harness.api.chosen_measures import choose_measures
from harness.api.execution import USUAL, Execution
from harness.api.progress import SILENT, Progress
from harness.errors import UserError
from harness.execution.dispatch import make
from harness.execution.plan import plan_calls
from harness.names import ALL
from harness.outcome import CallResult, Outcome
from harness.submission import find_submission
from harness.summarized import Summarized
from harness.task import DEFAULT_DIRECTORY
from harness.task.model import Model
from harness.task.selection import select_models
from harness.text import duration

#: Numbers of examples of a timed pass. The second number is used if a pass over the first takes less than `SHORT_S`.
EXAMPLES, SHORT_S = (128, 2048), 1.0

#: The timed measures: the first reads the network, the second makes a forward pass, the third a forward and backward
#: pass. Each pass is timed in two calls, with different seeds. The first call also prepares the pass.
_READING, _FORWARD, _BACKWARD = "depth", "cross_entropy", "input_gradient_norm"
_SEEDS = (1, 2)


@dataclass(frozen=True)
class Timed:
    """The timed calls on one model. If a call failed, the seconds that depend on it are NaN."""

    model: Model
    n_examples: int  #: number of examples of each pass
    reading: CallResult  #: a call that reads the network, and makes no pass
    forward: tuple[CallResult, CallResult]  #: two calls with a forward pass; only the first prepared it
    backward: tuple[CallResult, CallResult]  #: two calls with a forward and backward pass; only the first prepared it

    def seconds(self, measure: Measure, n_examples: int) -> float:
        """Return the expected seconds of a call; NaN for a measure that only computes singular values."""
        n_layers = int(self.reading.value or 1)
        forward, backward = measure.passes(Sizes(kappa=self.model.n_outputs, d=n_layers, m=n_examples))
        if "SVD" in measure.work and not forward:
            return np.nan
        seconds = _seconds(self.reading)
        for number, (first, second) in ((forward, self.forward), (backward, self.backward)):
            if number:
                preparing = np.fmax(_seconds(first) - _seconds(second), 0)
                seconds += float(preparing) + number * _seconds(second) / self.n_examples
        return seconds

    def memory(self, measure: Measure) -> int | None:
        """Return the peak bytes of the timed call with the same `cost` as the measure; None if unknown."""
        by_cost = {"weights": self.reading, "forward": self.forward[1], "gradients": self.backward[1]}
        found = by_cost.get(measure.cost)
        return found.peak_memory_bytes if found is not None and found.outcome is Outcome.OK else None


@dataclass(frozen=True)
class CostForecast:
    """The expected seconds and memory of a measure on the models of a task; None if unknown."""

    measure: Measure
    smallest_s: float | None  #: seconds of a call on the smallest model
    largest_s: float | None  #: seconds of a call on the largest model
    all_s: float | None  #: seconds of calls on all models, one at a time
    memory_bytes: int | None  #: peak memory of a call on the largest model


@dataclass(frozen=True, repr=False)
class Costs(Summarized):
    """Forecasts for measures on a task, and the timed calls behind them."""

    task: str
    n_examples: int  #: number of examples in the training set
    timed: tuple[Timed, ...]  #: timed calls on the smallest and the largest model
    forecasts: tuple[CostForecast, ...]
    workers: int  #: number of calls that a run makes at once

    @property
    def summary(self) -> list[str]:
        """The time of each measure on all models."""
        times = [(one.measure.name, one.all_s) for one in self.forecasts]
        return [f"{name}: {'unknown' if seconds is None else duration(seconds)}" for name, seconds in times]


def forecast_costs(
    measures: Sequence[Measure | str] | str = (ALL,),
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    execution: Execution = USUAL,
    progress: Progress = SILENT,
) -> Costs:
    """Forecast the costs of measures on a task.

    A forward pass, and a forward and backward pass, are timed on the task's smallest and largest model. Nothing is
    recorded.

    Args:
        measures: measures of the library; or names of measures (no parameters), families or costs, `all` or `cheap`.
        task_names: the name of a task; may be empty if the directory has only one task.

    Raises:
        UserError: there is no such measure, there are several tasks, the task is invalid or hidden, or no sandbox works
            here.
    """
    chosen = list(_measures(measures))
    with begin_run([], Path(tasks_dir), task_names, execution, progress) as run:
        if len(run.tasks) != 1:
            found = ", ".join(task.name for task in run.tasks)
            raise UserError("a forecast is for one task", found=found, remedy="choose it with --task NAME")
        if run.withheld:
            raise UserError("no forecast on a hidden task", found=run.tasks[0].name, remedy="its times are withheld")
        progress.step("timing a forward pass, and a forward and backward pass, on two models")
        timed = _time_passes(run)
    task, workers = run.tasks[0], run.executor.workers
    forecasts = tuple(_forecast(measure, task.models, timed, task.data.n_samples) for measure in chosen)
    return Costs(task.name, task.data.n_samples, timed, forecasts, workers)


def _measures(given: Sequence[Measure | str] | str) -> Iterator[Measure]:
    for one in [given] if isinstance(given, str) else given:
        for name in [one.name] if isinstance(one, Measure) else [c.submission.name for c in choose_measures(one)]:
            if name not in MEASURES:
                raise UserError("a forecast is for default parameters", expected="a name alone", found=name)
            yield MEASURES[name]


def _time_passes(run: Run) -> tuple[Timed, ...]:
    """Make timed passes on the smallest and the largest model of the run's only task. Return their calls."""
    (task,) = run.tasks
    models, found = select_models(task, 2), dict[str, Timed]()
    for n_examples in EXAMPLES:
        waiting = [one for one in models if one.id not in found or _seconds(found[one.id].backward[1]) < SHORT_S]
        number = min(n_examples, task.data.n_samples)
        passes_of = [f"{name}:n_samples={number},seed={seed}" for name in (_FORWARD, _BACKWARD) for seed in _SEEDS]
        names = [_READING, *passes_of]
        planned = plan_calls([*map(find_submission, names)], [task], run.settings, run.executor)
        chosen = [call for call in planned if call.model in waiting]
        results = {(call.call.model.id, call.call.submission.name): call.result for call in make(run.executor, chosen)}
        for model in waiting:
            reading, *passes = (results[model.id, name] for name in names)
            found[model.id] = Timed(model, number, reading, (passes[0], passes[1]), (passes[2], passes[3]))
    return tuple(found[model.id] for model in models)


def _seconds(result: CallResult) -> float:
    return result.call_wall_s if result.outcome is Outcome.OK else np.nan


def _forecast(measure: Measure, models: Sequence[Model], timed: Sequence[Timed], n_examples: int) -> CostForecast:
    ends = [one.seconds(measure, n_examples) for one in timed]
    sizes = [model.n_parameters for model in models], [one.model.n_parameters for one in timed]
    every = np.interp(*sizes, ends).sum()
    smallest_s, largest_s, all_s = (None if np.isnan(s) else float(s) for s in (ends[0], ends[-1], every))
    return CostForecast(measure, smallest_s, largest_s, all_s, timed[-1].memory(measure))
