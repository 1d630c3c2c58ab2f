"""The spread of a score that comes from the measure's own randomness."""

import numpy as np
import pytest
from scoring_examples import TOY_GAP, TOY_MEASURE, task, toy

from scoring import Grid, ScoreUndefined, measure_stability, official_score

GAP = np.random.default_rng(0).normal(size=32)
GRID: Grid = task(GAP.tolist(), GAP.tolist(), a=2, b=2, c=2, d=2, e=2).grid


def called(n_values: int, seed: int = 1, noise: float = 0.5) -> tuple[np.ndarray, dict[str, list[float]]]:
    """Values of a noisy measure that count, and those of other seeds."""
    values = GAP + noise * np.random.default_rng(seed).normal(size=(n_values, 32))
    return values[0], {model: values[1:, i].tolist() for i, model in enumerate(GRID.models)}


def test_a_measure_without_randomness_is_steady() -> None:
    measure = np.arange(32.0)
    found = measure_stability(measure, GAP, GRID, {"model_0": [0.0, 0.0], "model_1": [1.0, 1.0]})
    assert (found.n_repeated, found.n_unsteady) == (2, 0)
    assert found.error == pytest.approx(0, abs=1e-12)
    assert found.score == official_score(measure, GAP, GRID).score


def test_repeats_of_all_models_or_some_estimate_the_true_spread() -> None:
    scores = [official_score(called(1, seed)[0], GAP, GRID).score for seed in range(100, 400)]
    all_of_them, half = [], []
    for seed in range(20):
        measure, repeats = called(4, seed)
        all_of_them.append(measure_stability(measure, GAP, GRID, repeats).error)
        chosen = np.random.default_rng(seed).choice(GRID.models, 16, replace=False)
        half.append(measure_stability(measure, GAP, GRID, {model: repeats[model] for model in chosen}).error)
    assert np.mean(all_of_them) == pytest.approx(np.std(scores), rel=0.3)
    assert np.mean(half) == pytest.approx(np.std(scores), rel=0.3)


def test_unsteady_models_are_counted() -> None:
    found = measure_stability(TOY_MEASURE, TOY_GAP, toy().grid, {"model_0": [9.0], "model_1": [1.0]})
    assert (found.n_repeated, found.n_unsteady) == (2, 1)


@pytest.mark.parametrize(
    ("repeats", "message"),
    [
        ({}, "repeats: expected at least one model, found none"),
        ({"model_9": [1.0]}, "repeats: expected models of the grid, found model_9"),
        ({"model_0": [1.0], "model_1": [1.0, 2.0]}, "same number of values for each model, at least one, found 1, 2"),
        ({"model_0": []}, "same number of values for each model, at least one, found 0"),
        ({"model_0": [float("nan")]}, "repeats: expected finite numbers"),
    ],
)
def test_wrong_repeats_are_refused(repeats: dict[str, list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure_stability(TOY_MEASURE, TOY_GAP, toy().grid, repeats)


def test_two_hyperparameters_have_no_stability() -> None:
    with pytest.raises(ScoreUndefined, match="expected at least 3 hyperparameters that vary"):
        measure_stability(*task(TOY_GAP, TOY_MEASURE, a=4, b=2).arrays, {"model_0": [1.0]})
