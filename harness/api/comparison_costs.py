"""Forecasts how long the calls of `pgdl.compare` will take."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from baselines import MEASURES
from harness.api.calls import Run
from harness.api.chosen_measures import without_parameters
from harness.api.costs import Timed, on_each, time_passes
from harness.api.progress import Progress
from harness.execution.plan import PlannedCall
from harness.execution.run import Plan
from harness.task.model import Model
from harness.task.task import Task
from harness.text import counted, duration

#: Smallest number of missing calls for a forecast, since a forecast itself makes about ten calls on each task.
MANY_CALLS = 1000

#: Maximum number of measures that the forecast names.
NAMED = 5


def note_costs(run: Run, progress: Progress, plan: Plan) -> None:
    """Send notes on how long the missing calls of a plan will take, and on the measures that take most of this time.

    For this, forward and backward passes are timed on two models of each task. Nothing is timed or sent for fewer than
    `MANY_CALLS` missing calls, or if the results of a task are withheld.
    """
    missing = plan.missing
    if len(missing) < MANY_CALLS or run.withheld:
        return
    progress.step("timing passes on two models of each task, to forecast the run")
    called = defaultdict[tuple[str, str], list[Model]](list)
    for call in missing:
        called[call.task.name, call.submission.name].append(call.model)
    timed = {task.name: time_passes(replace(run, tasks=[task])) for task in run.tasks}
    n_examples = {task.name: task.data.n_samples for task in run.tasks}
    seconds = Counter[str]()
    for (task, name), models in called.items():
        measure = MEASURES[without_parameters(name)]
        each = on_each(models, timed[task], [one.passes_s(measure, n_examples[task]) for one in timed[task]])
        seconds[name] += np.minimum(each, run.settings.time_limit_s).sum()
    begins = sum(_begin_s(task, missing, timed[task.name]) for task in run.tasks)
    for line in _lines(len(missing), begins, seconds, run.executor.workers):
        progress.note(line)


def _begin_s(task: Task, calls: Sequence[PlannedCall], timed: Sequence[Timed]) -> float:
    """Return the seconds of work that all calls on a model share, summed over the models of a task."""
    models = {call.model.id: call.model for call in calls if call.task.name == task.name}
    return float(np.nan_to_num(on_each(list(models.values()), timed, [one.begin_s for one in timed])).sum())


def _lines(n_calls: int, begins: float, seconds: Counter[str], workers: int) -> list[str]:
    known = Counter({name: total for name, total in seconds.items() if not np.isnan(total)})
    most = ", ".join(f"{name} {duration(total / workers)}" for name, total in known.most_common(NAMED))
    total, n_unknown = duration((begins + known.total()) / workers), len(seconds) - len(known)
    rest = f"; {counted(n_unknown, 'measure')} of singular values not counted" if n_unknown else ""
    return [
        f"{n_calls:,} calls, about {total} with {workers} at once, less where measures share passes{rest}",
        f"the measures that take most: {most}",
    ]
