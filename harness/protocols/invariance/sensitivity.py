"""How much of the training data a curve needs: section 4.1.3 and figure 3 of Schiff et al. 2021."""

import timeit
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.invariance.study import Study
from harness.protocols.invariance.table import Compared
from scoring import GivenScore
from scoring.streams import stream

#: Repetitions of each number of batches, and examples of a batch, as in the paper.
REPETITIONS, BATCH = 20, 128

#: Calls over which the time of a score is averaged.
CALLS = 200


@dataclass(frozen=True)
class Point:
    """One number of batches."""

    perturbation: str  #: its name
    n_batches: int  #: batches of `BATCH` examples
    #: information of the Gi-score about the gap in each repetition, those without a score left out
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

    Args:
        study: with `REPETITIONS` draws of partners, and the time of each of `numbers`.
        perturbations: those to look at.
        compared: models and gaps.
        numbers: of batches.
        seed: draws the subsets.
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
    """Measure the time that the scores of a finished curve take."""
    responses = next(iter(study.responses.values()))
    curve = responses.curve(chosen)

    def score() -> None:
        curve.__dict__.pop("scores", None)
        _ = curve.scores

    return timeit.timeit(score, number=CALLS) / CALLS
