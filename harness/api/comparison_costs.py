"""What many calls of the library's measures will take, said before the first."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

from baselines import MEASURES
from harness.api.calls import Run
from harness.api.chosen_measures import without_parameters
from harness.api.costs import seconds_on, time_passes
from harness.api.progress import Progress
from harness.execution.run import Plan
from harness.task.model import Model
from harness.text import counted, duration

#: Number of calls from which on a forecast is worth its own calls, about ten for each task.
MANY_CALLS = 1000

#: Measures that are named.
NAMED = 5


def note_costs(run: Run, progress: Progress, plan: Plan) -> None:
    """Note how long the missing calls of a plan will take, and which measures take most of it.

    Passes are timed on two models of each task. Nothing is said before few calls, nor of withheld tasks.
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
        each = seconds_on(models, MEASURES[without_parameters(name)], timed[task], n_examples[task])
        seconds[name] += np.minimum(each, run.settings.time_limit_s).sum()
    for line in _lines(len(missing), seconds, run.executor.workers):
        progress.note(line)


def _lines(n_calls: int, seconds: Counter[str], workers: int) -> list[str]:
    known = Counter({name: total for name, total in seconds.items() if not np.isnan(total)})
    most = ", ".join(f"{name} {duration(total / workers)}" for name, total in known.most_common(NAMED))
    total, n_unknown = duration(known.total() / workers), len(seconds) - len(known)
    rest = f"; {counted(n_unknown, 'measure')} of spectra not counted" if n_unknown else ""
    return [
        f"{n_calls:,} calls, about {total} with {workers} at once, less where measures share passes{rest}",
        f"the measures that take most: {most}",
    ]
