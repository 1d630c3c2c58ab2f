"""How well the statistics of a curve predict the generalization gap, as in table 3 of Schiff et al. 2021."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from timeit import timeit

import numpy as np

from harness.errors import UserError
from harness.format.reference import Reference
from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.invariance.study import Curve, Study
from scoring import GivenScore, Grid, ScoreUndefined, given_score, kendall_tau
from scoring.streams import stream

#: Statistic of a curve -> title. The Pal-score is only defined for mixtures, whose curves fall (Schiff et al., 4.2.2).
TITLES = {
    "subset_error": "error on augmented subset",
    "mean_error": "mean error of the curve",
    "gi": "Gi-score",
    "minus_pal": "-Pal-score",
}

LEVEL = "augmentation_level"  #: the only hyperparameter on which Schiff et al. do not condition

#: Number of random subsets of each size, and number of examples in a batch, as in Schiff et al. 2021.
REPETITIONS, BATCH = 20, 128

CALLS = 200  #: number of calls over which the time of a score is averaged


@dataclass(frozen=True)
class InvarianceLine:
    """A row of the table: how well a statistic of a perturbation's curves predicts the gap."""

    perturbation: str
    statistic: str  #: a key of `TITLES`
    n_models: int
    score: GivenScore | str  #: conditional mutual information with the gap, or why it is not defined
    kendall: float  #: Kendall's rank correlation with the gap, -1 to 1


@dataclass(frozen=True)
class Compared:
    """The models whose curves are compared with their gaps."""

    models: tuple[str, ...]
    gaps: tuple[float, ...]
    grid: Grid
    given: tuple[str, ...]  #: names of the hyperparameters to condition on

    @classmethod
    def of(cls, reference: Reference, models: Sequence[str], given: Sequence[str], least_accuracy: float) -> "Compared":
        """Choose the models whose training accuracy is at least `least_accuracy`.

        `given` names the two or more hyperparameters on which scores condition; () stands for all varying
        hyperparameters except `LEVEL`. Raise `UserError` if `given` has an unknown name or only one name, or if fewer
        than two models remain.
        """
        names = tuple(dict.fromkeys(given)) or tuple(name for name in reference.grid.varying if name != LEVEL)
        for unknown in set(names) - set(reference.grid.names):
            expected = f"some of {', '.join(reference.grid.names)}"
            raise UserError("--given", expected=expected, found=unknown)
        if given and len(set(given)) < 2:
            raise UserError("--given", expected="at least two hyperparameters", found=", ".join(given))
        kept = tuple(model for model in models if reference.train_accuracy[model] >= least_accuracy)
        if len(kept) < 2:
            found = f"{len(kept)} of {len(models)}"
            raise UserError(f"models with a training accuracy of {least_accuracy:g} or more", expected="2", found=found)
        grid = reference.grid
        rows = [grid.models.index(model) for model in kept]
        return cls(
            kept, tuple(reference.gaps[m] for m in kept), Grid(kept, grid.names, grid.values, grid.codes[rows]), names
        )

    def line(self, chosen: ChosenMagnitudes, statistic: str, curves: Mapping[str, Curve]) -> InvarianceLine:
        """Return how well a statistic of `curves` (model id -> curve of a perturbation) predicts the gaps."""
        values = [curves[model].scores[statistic] for model in self.models]
        score: GivenScore | str
        try:
            score = given_score(values, self.gaps, self.grid, self.given)
        except ScoreUndefined as error:
            score = str(error)
        return InvarianceLine(chosen.name, statistic, len(self.models), score, kendall_tau(values, self.gaps))


def compare(study: Study, compared: Compared) -> list[InvarianceLine]:
    """Return the table: a row for each perturbation and statistic."""
    lines = []
    for chosen in study.perturbations:
        curves = study.curves(chosen)
        known = next(iter(curves.values())).scores
        lines += [compared.line(chosen, statistic, curves) for statistic in TITLES if statistic in known]
    return lines


@dataclass(frozen=True)
class Point:
    """How well Gi-scores predict the gap if curves are computed from only `n_batches` batches of `BATCH` examples."""

    perturbation: str
    n_batches: int
    scores: tuple[float, ...]  #: `InvarianceLine.score` of the Gi-score for each random subset, if defined
    seconds: float  #: seconds for a curve, averaged over the models

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores; NaN for a single score."""
        return float(np.std(self.scores, ddof=1))


def batch_numbers(n_examples: int) -> list[int]:
    """Return all powers of 2 that are less than the number of full batches in `n_examples`, then this number."""
    most = max(n_examples // BATCH, 1)
    return sorted({most, *(2**power for power in range(most.bit_length()))})


def measure_sensitivity(study: Study, compared: Compared, numbers: Sequence[int], seed: int) -> list[Point]:
    """Return how well Gi-scores from random subsets of the examples predict the gap.

    There is a point for each perturbation in `study` and each number of batches in `numbers`. A point has `REPETITIONS`
    subsets, the same for all models. `study` must have this number of repetitions.
    """
    responses, points = {model: study.responses[model] for model in compared.models}, []
    for chosen in study.perturbations:
        n_examples = min(one.n_examples(chosen) for one in responses.values())
        for position, number in enumerate(numbers):
            scores = []
            for repetition in range(REPETITIONS):
                drawn = stream("sensitivity", seed, number, repetition)
                rows = drawn.choice(n_examples, min(number * BATCH, n_examples), replace=False)
                curves = {model: one.curve(chosen, repetition, rows) for model, one in responses.items()}
                score = compared.line(chosen, "gi", curves).score
                scores += [score.score] if isinstance(score, GivenScore) else []
            seconds = float(np.mean([one.seconds(chosen)[position] for one in responses.values()]))
            points.append(Point(chosen.name, number, tuple(scores), seconds))
    return points


def seconds_of_a_score(study: Study) -> float:
    """Return the seconds to compute the statistics of a curve, measured on the first curve of the first model."""
    curve = next(iter(study.curves(study.perturbations[0]).values()))
    return timeit(lambda: replace(curve).scores, number=CALLS) / CALLS  # a new object has no cached scores
