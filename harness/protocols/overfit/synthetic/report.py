"""The experiment's numbers beside those of the paper, and all of them as CSV."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console

from harness.protocols.files import write_csv
from harness.protocols.overfit.synthetic.repetition import Setting
from harness.protocols.overfit.synthetic.run import N_MODELS, AtStep, Experiment
from harness.tables import print_lines, print_table
from scoring.vectors import Vector

#: Steps with which the paper detects the dependence, and one with which it does so only now and then.
STRONG, BETWEEN = (10.0, 50.0), 6.0

#: Share of repetitions of which the paper prints the interval.
LEVEL = 0.95

COLUMNS = (
    "setting", "epsilon", "n_models", "n_tests", "p_mean", "p_median", "p_low", "p_high", "error_rate",
    "adversarial_error_rate", "adversarial_estimate", "density_of_errors", "density_of_adversarial_examples",
)  # fmt: skip


def print_experiment(experiment: Experiment, console: Console) -> None:
    """Print the numbers that the paper reports, as printed there and as found here."""
    print_table(console, ("setting", "number", "paper", "here"), compare(experiment), left=("setting", "number"))
    note = f"{experiment.n_repetitions} repetitions in each setting, seed {experiment.seed}. N: models of a test."
    print_lines(console, ["", note])


def compare(experiment: Experiment) -> Iterator[tuple[str, str, str, str]]:
    """Yield setting, name of a number, its value in the paper, and its value here."""
    single = {setting: [at.p_values[1] for at in outcomes] for setting, outcomes in experiment.outcomes.items()}
    means = {setting: np.array([p_values.mean() for p_values in values]) for setting, values in single.items()}
    independent, dependent = Setting.INDEPENDENT, Setting.DEPENDENT
    trained = experiment.repetitions[dependent]
    strong = [at.p_values[1] for at in experiment.outcomes[dependent] if STRONG[0] <= at.step <= STRONG[1]]
    yield independent, "smallest mean p-value over epsilon", "about 1", _number(means[independent].min())
    yield independent, "smallest p-value of all", "0.5", _number(min(one.min() for one in single[independent]))
    yield dependent, "training loss with penalty", "0.25", f"{np.mean([one.loss for one in trained]):.4f}"
    yield dependent, "training accuracy", "1", f"{np.mean([one.train_accuracy for one in trained]):.4f}"
    yield dependent, "risk", "about 0.5", f"{np.mean([one.risk for one in trained]):.4f}"
    yield dependent, "largest mean p-value, epsilon 10 to 50", "about 0", _number(max(one.mean() for one in strong))
    yield dependent, "mean p-value, smallest epsilon", "about 1", _number(means[dependent][0])
    between = experiment.at(dependent, BETWEEN)
    yield dependent, "epsilon 6, N = 1: mean p-value", "0.5984", _number(between.p_values[1].mean())
    yield dependent, "epsilon 6, N = 1: median", "0.6385", _number(float(np.median(between.p_values[1])))
    for number, printed in ((25, "0.1851, 0.1599, 0.0661, 0.1941"), (100, "0.1153")):
        if number in between.p_values:
            found = ", ".join(map(_number, between.p_values[number]))
            yield dependent, f"epsilon 6, N = {number}: p-values", printed, found


def _number(value: float) -> str:
    return f"{value:.4f}" if value >= 1e-4 or value == 0 else f"{value:.0e}"


def write_outcomes(experiment: Experiment, file: Path) -> Path:
    """Write a row for each setting, epsilon and number of models as CSV."""
    rows = (
        (setting, at.step, number, len(at.p_values[number]), *_summary(at.p_values[number], number), *_rates(at))
        for setting, outcomes in experiment.outcomes.items()
        for at in outcomes
        for number in at.p_values
    )
    return write_csv(file, COLUMNS, rows)


def _summary(p_values: Vector, n_models: int) -> tuple[float, float, float, float]:
    return (float(p_values.mean()), float(np.median(p_values)), *p_value_range(p_values, n_models))


def p_value_range(p_values: Vector, n_models: int) -> tuple[float, float]:
    """Return the empirical 95 % interval of p-values of single models, and the range of those of N-model tests."""
    if n_models > N_MODELS[0]:
        return float(p_values.min()), float(p_values.max())
    return central_range(p_values)


def central_range(values: Vector) -> tuple[float, float]:
    """Return the range of the central 95 % of some values."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _rates(at: AtStep) -> tuple[float, ...]:
    rates = at.error_rates, at.adversarial_error_rates, at.adversarial_estimates
    return (*(float(values.mean()) for values in rates), *at.densities)
