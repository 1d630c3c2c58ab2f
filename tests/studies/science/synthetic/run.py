"""Runs the experiment: trains classifiers in both settings, and tests each with steps of many lengths."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scoring import RiskEstimates, pairwise_independence_test
from scoring.vectors import Vector
from tests.studies.science.synthetic.gaussian_margin import GaussianMargin
from tests.studies.science.synthetic.repetition import Repetition, Setting, repeat

#: Lengths of steps: ten per decade, and those about which the paper reports numbers.
STEP_LENGTHS = tuple(sorted({*(round(10 ** (n / 10), 4) for n in range(-20, 21)), 6.0, 50.0}))

#: Numbers of models of an N-model test.
N_MODELS = (1, 2, 10, 25, 100)

#: Ends of the interval of p-values of single models that the paper prints.
ENDS = (0.025, 0.975)

COLUMNS = ("setting", "epsilon", "n_models", "n_tests", "p_mean", "p_low", "p_high")


@dataclass(frozen=True)
class AtStep:
    """The results of one setting with steps of one length; arrays have the shape (n_repetitions,).

    Attributes:
        step: length of a step.
        error_rates: test error.
        adversarial_estimates: share of moved points that are misclassified, weighted by densities.
        p_values: number of models N -> p-values of the N-model test, one for each group of N repetitions.
    """

    step: float
    error_rates: Vector
    adversarial_estimates: Vector
    p_values: dict[int, Vector]


def run_experiment(n_repetitions: int = 100, seed: int = 0) -> dict[Setting, list[Repetition]]:
    """Train the classifiers of both settings, and test them with steps of all lengths."""
    return {setting: [repeat(setting, number, seed) for number in range(n_repetitions)] for setting in Setting}


def at_step(repetitions: Sequence[Repetition], step: float) -> AtStep:
    """Test classifiers with steps of one length."""
    estimates = [GaussianMargin().estimates(one.view, step) for one in repetitions]
    return AtStep(
        step,
        np.array([one.error_rate for one in estimates]),
        np.array([one.adversarial_estimate for one in estimates]),
        {n: _p_values(estimates, n) for n in N_MODELS if n <= len(estimates)},
    )


def _p_values(estimates: Sequence[RiskEstimates], n_models: int) -> Vector:
    """Return the p-value of each complete group of `n_models` repetitions."""
    starts = range(0, len(estimates) - n_models + 1, n_models)
    return np.array([pairwise_independence_test(*estimates[start : start + n_models]).p_value for start in starts])


def write_outcomes(repetitions: dict[Setting, list[Repetition]], file: Path) -> None:
    """Write a CSV file with a row for each setting, epsilon and number of models."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(_rows(repetitions))


def _rows(repetitions: dict[Setting, list[Repetition]]) -> Iterator[tuple[object, ...]]:
    for setting, trained in repetitions.items():
        for step in STEP_LENGTHS:
            for n_models, p_values in at_step(trained, step).p_values.items():
                ends = np.quantile(p_values, ENDS) if n_models == 1 else (p_values.min(), p_values.max())
                yield setting, step, n_models, len(p_values), p_values.mean(), *ends
