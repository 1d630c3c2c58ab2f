"""Runs the experiment: repetitions of both settings, and their tests with steps of many lengths."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.protocols.overfit.synthetic.repetition import Repetition, Setting, repeat
from scoring import GaussianMargin, RiskEstimates, pairwise_independence_test
from scoring.vectors import Vector

#: Lengths of steps: ten per decade, and those about which the paper reports numbers.
STEP_LENGTHS = tuple(sorted({*(round(10 ** (n / 10), 4) for n in range(-20, 21)), 6.0, 50.0}))

#: Numbers of models of an N-model test.
N_MODELS = (1, 2, 10, 25, 100)


@dataclass(frozen=True)
class AtStep:
    """The outcome of one setting with steps of one length; arrays have the shape (n_repetitions,).

    Attributes:
        step: the length.
        error_rates: test error.
        adversarial_error_rates: share of moved points that are misclassified.
        adversarial_estimates: the same with densities as weights.
        densities: mean density of the test points that are misclassified, and of the successful adversarial examples;
            NaN where there are none.
        p_values: number of models N -> p-values of the N-model test, one for each group of N repetitions.
        first: estimates of the first repetition.
    """

    step: float
    error_rates: Vector
    adversarial_error_rates: Vector
    adversarial_estimates: Vector
    densities: tuple[float, float]
    p_values: Mapping[int, Vector]
    first: RiskEstimates


@dataclass(frozen=True)
class Experiment:
    """All numbers of the experiment.

    Attributes:
        n_repetitions: trainings in each setting.
        seed: of all draws.
        repetitions: the trainings of each setting.
        outcomes: one for each of `STEP_LENGTHS`.
    """

    n_repetitions: int
    seed: int
    repetitions: Mapping[Setting, Sequence[Repetition]]
    outcomes: Mapping[Setting, Sequence[AtStep]]

    def at(self, setting: Setting, step: float) -> AtStep:
        """Return the outcome at one of `STEP_LENGTHS`."""
        return self.outcomes[setting][STEP_LENGTHS.index(step)]


def run_experiment(n_repetitions: int = 100, seed: int = 0, on_part: Callable[[], object] = lambda: None) -> Experiment:
    """Run both settings; finished trainings are kept in the cache.

    Args:
        n_repetitions: trainings in each setting.
        seed: of all draws.
        on_part: called `number_of_parts(n_repetitions)` times.
    """
    repetitions: dict[Setting, list[Repetition]] = {setting: [] for setting in Setting}
    for setting in Setting:
        for number in range(n_repetitions):
            repetitions[setting].append(repeat(setting, number, seed))
            on_part()
    outcomes: dict[Setting, list[AtStep]] = {setting: [] for setting in Setting}
    for setting in Setting:
        for step in STEP_LENGTHS:
            outcomes[setting].append(_at_step(repetitions[setting], step))
            on_part()
    return Experiment(n_repetitions, seed, repetitions, outcomes)


def number_of_parts(n_repetitions: int) -> int:
    """Return how often `run_experiment` reports progress."""
    return len(Setting) * (n_repetitions + len(STEP_LENGTHS))


def _at_step(repetitions: Sequence[Repetition], step: float) -> AtStep:
    example = GaussianMargin()
    estimates = [example.estimates(one.view, step) for one in repetitions]
    errors = np.concatenate([one.densities[one.losses > 0] for one in estimates])
    successes = np.concatenate([one.densities[one.moved_losses > one.losses] for one in estimates])
    return AtStep(
        step,
        np.array([one.error_rate for one in estimates]),
        np.array([one.adversarial_error_rate for one in estimates]),
        np.array([one.adversarial_estimate for one in estimates]),
        (_mean(errors), _mean(successes)),
        {n: _p_values(estimates, n) for n in N_MODELS if n <= len(estimates)},
        estimates[0],
    )


def _mean(values: Vector) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _p_values(estimates: Sequence[RiskEstimates], n_models: int) -> Vector:
    """Return the p-values of as many groups of `n_models` repetitions as there are."""
    starts = range(0, len(estimates) - n_models + 1, n_models)
    return np.array([pairwise_independence_test(*estimates[start : start + n_models]).p_value for start in starts])
