"""The information of each statistic of the curves about the generalization gap: table 3 of Schiff et al. 2021."""

import timeit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import UserError
from harness.format.reference import Reference
from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.invariance.study import Curve, Study
from scoring import GivenScore, Grid, ScoreUndefined, given_score, kendall_tau
from scoring.streams import stream

#: Names of the statistics in a table. The Pal-score is for curves that fall throughout (section 4.2.2 of the paper).
TITLES = {
    "subset_error": "error on augmented subset",
    "mean_error": "mean error of the curve",
    "gi": "Gi-score",
    "pal": "-Pal-score",
}

#: The hyperparameter that the paper does not condition on: it is the invariance that a model was taught.
LEVEL = "augmentation_level"

#: Repetitions of each number of batches, and examples of a batch, as in the paper.
REPETITIONS, BATCH = 20, 128

#: Calls over which the time of a score is averaged.
CALLS = 200


@dataclass(frozen=True)
class InvarianceLine:
    """A statistic of a perturbation."""

    perturbation: str  #: its name
    statistic: str  #: key of `TITLES`
    n_models: int  #: number of models that were compared
    score: GivenScore | str  #: information about the gap, or the reason why there is no score
    kendall: float  #: rank correlation with the gap


@dataclass(frozen=True)
class Compared:
    """The compared models: their gaps, their hyperparameters, and the hyperparameters to condition on."""

    models: tuple[str, ...]
    gaps: tuple[float, ...]
    grid: Grid
    given: tuple[str, ...]

    @classmethod
    def of(cls, reference: Reference, models: Sequence[str], given: Sequence[str], least_accuracy: float) -> "Compared":
        """Choose among `models` those with a training accuracy of at least `least_accuracy`.

        Raises:
            UserError: no such hyperparameter, or fewer than two models are left.
        """
        names = tuple(given) or tuple(name for name in reference.grid.varying if name != LEVEL)
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
        """Compare one statistic of the curves with the gaps."""
        values = [curves[model].scores[statistic] for model in self.models]
        score: GivenScore | str
        try:
            score = given_score(values, self.gaps, self.grid, self.given)
        except ScoreUndefined as error:
            score = str(error)
        return InvarianceLine(chosen.name, statistic, len(self.models), score, kendall_tau(values, self.gaps))


def compare(study: Study, perturbations: Sequence[ChosenMagnitudes], compared: Compared) -> list[InvarianceLine]:
    """Return the lines of the table, for each perturbation in the order of `TITLES`."""
    lines = []
    for chosen in perturbations:
        curves = {model: study.responses[model].curve(chosen) for model in compared.models}
        known = next(iter(curves.values())).scores
        lines += [
            compared.line(chosen, statistic, curves)
            for statistic in TITLES
            if statistic in known and (statistic != "pal" or chosen.is_mixture)
        ]
    return lines


@dataclass(frozen=True)
class Point:
    """The scores for one number of batches."""

    perturbation: str  #: its name
    n_batches: int  #: batches of `BATCH` examples
    #: information of the Gi-score about the gap, for each repetition that has a score
    scores: tuple[float, ...]
    seconds: float  #: mean time of a curve, of all models

    @property
    def mean(self) -> float:
        """Mean score of the repetitions."""
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores."""
        return float(np.std(self.scores, ddof=1))


def batch_numbers(n_examples: int) -> list[int]:
    """Return the numbers of batches to try: powers of two, and the largest that the data hold; at least one."""
    most = max(n_examples // BATCH, 1)
    return sorted({most, *(2**power for power in range(most.bit_length()))})


def measure_sensitivity(
    study: Study, perturbations: Sequence[ChosenMagnitudes], compared: Compared, numbers: Sequence[int], seed: int
) -> list[Point]:
    """Score random subsets of the examples of each curve, the same subset for all models.

    `study` has `REPETITIONS` draws of partners, and the time of each of the numbers of batches.
    """
    return [
        _point(study, chosen, compared, numbers, position, seed)
        for chosen in perturbations
        for position in range(len(numbers))
    ]


def _point(
    study: Study, chosen: ChosenMagnitudes, compared: Compared, numbers: Sequence[int], position: int, seed: int
) -> Point:
    number = numbers[position]
    responses = {model: study.responses[model] for model in compared.models}
    n_examples = min(one.n_examples(chosen) for one in responses.values())
    scores = []
    for repetition in range(REPETITIONS):
        drawn = stream("sensitivity", seed, number, repetition)
        rows = drawn.choice(n_examples, min(number * BATCH, n_examples), replace=False)
        curves = {model: one.curve(chosen, repetition, rows) for model, one in responses.items()}
        score = compared.line(chosen, "gi", curves).score
        scores += [score.score] if isinstance(score, GivenScore) else []
    seconds = float(np.mean([one.seconds(chosen)[position] for one in responses.values()]))
    return Point(chosen.name, number, tuple(scores), seconds)


def seconds_of_a_score(study: Study, chosen: ChosenMagnitudes) -> float:
    """Measure the seconds of computing the scores of a finished curve."""
    responses = next(iter(study.responses.values()))
    curve = responses.curve(chosen)

    def score() -> None:
        curve.__dict__.pop("scores", None)
        _ = curve.scores

    return timeit.timeit(score, number=CALLS) / CALLS
