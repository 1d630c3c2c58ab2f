"""Notes on valid tasks, for organisers, participants, and readers of scores."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from harness.format.output import Output
from harness.format.reference import Reference
from harness.task.contents import Contents
from harness.task.task import Task
from harness.text import counted, p_value_equation
from scoring import Grid, ScoreUndefined, detectable_difference, require_official, smallest_p_value
from scoring.resolution import LEVEL, POWER, TYPICAL

#: Number of permutations from which a board computes a p-value, which is at least 1/401.
N_PERMUTATIONS = 400

#: Smallest difference of gaps that is no rounding error: an accuracy from 0 to 1 has an error of at most 1e-16.
ROUNDING = 1e-15

#: Maximum number of names in a note.
NAMED = 3

#: An accuracy counts as chance up to this number of standard deviations above the fraction of the largest class.
DEVIATIONS = 3


def notes_of(task: Task, *, scored: bool = True) -> list[str]:
    """Return the notes on a valid task, except `notes_of_initial_weights`. The notes do not name the task.

    If `scored` is false, notes on scores and gaps are left out.
    """
    lines = [] if task.reference is None or not scored else notes_of_reference(task.reference)
    return [*lines, *_of_outputs(task), *_of_chance(task)]


def notes_of_initial_weights(task: Task) -> list[str]:
    """Return a note if models lack their weights before training, which some measures need; otherwise []."""
    return _of_initial_weights([model.id for model in task.models if not model.has_initial_weights], len(task.models))


def outputs_of(task: Task) -> str:
    """Return the kinds of the models' outputs as text, such as `logits of 5 models, probabilities of 2`."""
    numbers = {output: len(_with_output(task, output)) for output in reversed(Output)}
    found = [output for output, number in numbers.items() if number]
    if len(found) == 1:
        return str(found[0])
    first, *others = found
    return ", ".join(
        [f"{first} of {counted(numbers[first], 'model')}", *(f"{one} of {numbers[one]}" for one in others)]
    )


def _of_chance(task: Task) -> list[str]:
    """Return a note on models with a train accuracy at chance, for which the values of some measures mean nothing."""
    if task.reference is None:
        return []
    number, most = task.data.n_samples, int(np.bincount(task.data.labels).max())
    chance = most / number
    highest = chance + DEVIATIONS * math.sqrt(chance * (1 - chance) / number)
    found = [model for model, accuracy in task.reference.train_accuracy.items() if accuracy <= highest]
    if not found:
        return []
    which = f"{len(found)} models ({abbreviated(found)}) have" if len(found) > 1 else f"{found[0]} has"
    return [
        f"{which} a train accuracy that chance reaches (up to {highest:.3g}): measures of collapse, of the order of "
        "classes, of steadiness and of mixtures say nothing there, whatever their value (pgdl help measures#at-chance)"
    ]


def _of_outputs(task: Task) -> list[str]:
    meanings = {
        Output.PROBABILITIES: "in a softmax: model(x) gives probabilities there, model.logits(x) logits",
        Output.LOG_PROBABILITIES: "in a log-softmax: model(x) gives log-probabilities, model.logits(x) logits",
        Output.NO_LOGITS: "in sigmoids, or have layers behind a softmax: model.logits(x) gives the same as "
        "model(x), and measures of the library that need logits refuse",
    }
    lines = []
    for output, meaning in meanings.items():
        if found := _with_output(task, output):
            number = f"{len(found)} models ({abbreviated(found)}) end" if len(found) > 1 else f"{found[0]} ends"
            lines.append(f"{'all models end' if len(found) == len(task.models) else number} {meaning}")
    return lines


def _with_output(task: Task, output: Output) -> list[str]:
    return [model.id for model in task.models if model.architecture.output is output]


def notes_of_contents(reference: Reference, contents: Contents | None, *, initial_weights: bool) -> list[str]:
    """Return notes on the models in the reference data that have no files. If `contents` is None, no model has files.

    If `initial_weights` is true, add a note on models without weights before training.
    """
    if contents is None:
        return [
            "its models are missing, so it cannot be checked whether records are of these models, and standard errors "
            "of scores are not split into gap_error and model_error"
        ]
    missing = [model for model in reference.models if model not in contents.models]
    lines = []
    if missing:
        share = f"{len(missing)} of {len(reference.models)} models"
        lines.append(f"{share} are missing ({abbreviated(missing)}): records of them count once their files are back")
    lacking = contents.without_initial_weights if initial_weights else ()
    return [*lines, *_of_initial_weights(lacking, len(contents.models))]


def notes_of_shared_models(contents: Mapping[str, Contents]) -> list[str]:
    """Return a note if tasks (name -> digests) have models in common: statistics take tasks for independent."""
    times = Counter(digest for one in contents.values() for digest in set(one.models.values()))
    sharing = [name for name, one in contents.items() if any(times[digest] > 1 for digest in one.models.values())]
    consequence = "intervals and p-values of final scores take them for different models"
    return [f"{abbreviated(sharing)} have models in common: {consequence}"] if sharing else []


def notes_of_reference(reference: Reference) -> list[str]:
    """Return notes on hyperparameters, gaps, and models that were not downloaded."""
    lines = [reference.part] if reference.part else []
    try:
        require_official(reference.grid)
        lines += notes_of_constants(reference.grid)
    except ScoreUndefined as error:
        lines.append(f"no {error}")
    gaps = np.unique(list(reference.gaps.values()))
    if len(reference.models) > 1 and gaps[-1] - gaps[0] < ROUNDING:
        lines.append(f"all {len(reference.models)} generalization gaps are {gaps[0]:g}: there is nothing to predict")
    if number := int(np.count_nonzero(np.diff(gaps) < ROUNDING)):
        differences = counted(number, "difference")
        lines.append(f"rounding alone makes {differences} between generalization gaps, which scores count all the same")
    return lines


def notes_of_constants(grid: Grid) -> list[str]:
    """Return a note on each hyperparameter with a single value: the official score conditions on its pairs, too."""
    consequence = "it cannot order them, but its pairs can lower official scores and the level of chance; leave it out"
    return [
        f"{name} has one value, {grid.values[name][0]!r}, in all models: {consequence}"
        for name in grid.names
        if name not in grid.varying
    ]


def notes_of_resolution(reference: Reference) -> list[str]:
    """Return a line on the resolution of the task's scores; empty if the task has no official score.

    The line has the smallest possible p-value, unless a board draws too few permutations to reach it. If a measure can
    be told from chance on this task alone, the line also has the smallest detectable difference between two scores.
    """
    grid = reference.grid
    try:
        difference = detectable_difference([reference.gaps[model] for model in grid.models], grid)
    except ScoreUndefined:
        return []
    smallest, networks = smallest_p_value(grid), f"{len(grid.models)} networks"
    p_value = p_value_equation(smallest)
    if smallest > LEVEL:
        alone = "no measure can be told from chance on this task alone"
        return [f"{networks} cannot show more than {p_value}: {alone}"]
    at_best = f"can show {p_value} at best, and " if smallest > 1 / (1 + N_PERMUTATIONS) else "can show "
    points = f"a difference of {difference:.0f} points between two scores near {100 * TYPICAL:.0f}"
    return [f"{networks} {at_best}{points} in {10 * POWER:.0f} of 10 cases"]


def _of_initial_weights(lacking: Collection[str], number: int) -> list[str]:
    if not lacking:
        return []
    which = "no model has" if len(lacking) == number else f"{len(lacking)} of {number} models lack"
    names = "" if len(lacking) == number else f" ({abbreviated(list(lacking))})"
    none = "model.initial_weights is None there, and measures that need it cannot work"
    return [f"{which} weights_init.hdf5{names}: {none}"]


def abbreviated(names: Sequence[str]) -> str:
    """Return names as text; of more than three names, the first three and the number of the others."""
    more = len(names) - NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:NAMED])} and {more} more"
