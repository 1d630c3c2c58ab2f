"""Tests of the paper's synthetic experiment with few repetitions."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.studies.science.synthetic.gaussian_margin import GaussianMargin
from tests.studies.science.synthetic.repetition import Repetition, Setting
from tests.studies.science.synthetic.run import STEP_LENGTHS, AtStep, at_step, run_experiment, write_outcomes
from tests.studies.science.synthetic.training import RATE, train

Repetitions = dict[Setting, list[Repetition]]
Outcomes = dict[Setting, list[AtStep]]


@pytest.fixture(scope="module")
def repetitions() -> Repetitions:
    return run_experiment(4)


@pytest.fixture(scope="module")
def outcomes(repetitions: Repetitions) -> Outcomes:
    return {setting: [at_step(trained, step) for step in STEP_LENGTHS] for setting, trained in repetitions.items()}


def test_dependence_is_found_with_steps_of_10_to_50(outcomes: Outcomes) -> None:
    strong = [at for at in outcomes[Setting.DEPENDENT] if 10 <= at.step <= 50]
    assert len(strong) > 5
    assert all(at.p_values[2].max() < 0.05 for at in strong)
    assert all(at.adversarial_estimates.mean() > at.error_rates.mean() + 0.05 for at in strong)
    for step in (0.01, 1.0):
        at = outcomes[Setting.DEPENDENT][STEP_LENGTHS.index(step)]
        assert at.p_values[1].mean() > 0.9, "too short steps find nothing"


def test_independence_is_not_rejected(outcomes: Outcomes) -> None:
    assert min(at.p_values[1].min() for at in outcomes[Setting.INDEPENDENT]) > 0.05
    for at in outcomes[Setting.INDEPENDENT]:
        np.testing.assert_allclose(at.adversarial_estimates, at.error_rates, atol=0.02)


def test_trainings_end_where_those_of_the_paper_do(repetitions: Repetitions) -> None:
    """The penalty keeps the first weight at half the learning rate, 0.005; the loss 0.25 is 10,000 times its square."""
    for one in repetitions[Setting.DEPENDENT]:
        assert one.train_accuracy == 1
        assert one.loss == pytest.approx(0.25, abs=1e-3)
        assert len(one.view.labels) == 1000
    for one in repetitions[Setting.INDEPENDENT]:
        assert one.train_accuracy == 1
        assert one.loss == pytest.approx(0, abs=1e-6)
        assert len(one.view.labels) == 10_000


def test_the_penalty_leaves_the_first_weight_at_half_the_learning_rate() -> None:
    points, labels = GaussianMargin().sample(500, np.random.default_rng(0))
    classifier = train(points, labels, 1e4, np.random.default_rng(1))
    assert abs(classifier.weights[0]) == pytest.approx(RATE / 2, rel=1e-3)
    assert classifier.steps < 50_000, "it came to rest"


def test_the_table_has_a_row_for_each_setting_and_test(repetitions: Repetitions, tmp_path: Path) -> None:
    write_outcomes(repetitions, tmp_path / "synthetic.csv")
    rows = list(csv.DictReader((tmp_path / "synthetic.csv").open()))
    assert len(rows) == 2 * len(STEP_LENGTHS) * 2
    assert {(row["n_models"], row["n_tests"]) for row in rows} == {("1", "4"), ("2", "2")}
