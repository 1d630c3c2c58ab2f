"""The sign-error: by hand, against loops, invariances, and the filter of noise."""

from itertools import combinations
from statistics import mean

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, Task, task, tasks, toy

from scoring import Grid, ScoreUndefined, kendall_tau, sign_errors
from scoring.sign_error import order_certainty


def literal_errors(t: Task) -> dict[str, list[float]]:
    """Error of every pair of models that differ in one hyperparameter, by that hyperparameter."""
    errors: dict[str, list[float]] = {}
    for i, j in combinations(t.current, 2):
        different = [name for name in t.grid.names if t.current[i][name] != t.current[j][name]]
        if len(different) == 1:
            sign = np.sign(t.measure[i] - t.measure[j]) * np.sign(t.gap[i] - t.gap[j])
            errors.setdefault(different[0], []).append((1 - sign) / 2)
    return errors


@given(tasks(), st.booleans())
def test_equal_to_loops_over_pairs(t: Task, holed: bool) -> None:
    t = t.with_models_in_order(list(t.current)[:-1]) if holed else t
    expected = literal_errors(t)
    every = [error for errors in expected.values() for error in errors]
    found = sign_errors(*t.arrays)
    assert {name: summary.mean for name, summary in found.varied.items()} == pytest.approx(
        {name: mean(errors) for name, errors in expected.items()}
    )
    assert found.overall.mean == pytest.approx(mean(every))
    assert found.overall.percentile_90 == pytest.approx(np.quantile(every, 0.9))
    assert found.overall.robust == max(every)
    assert (found.overall.n_environments, found.n_discarded) == (len(every), 0)


@given(tasks(distinct=True))
def test_perfect_reversed_and_constant(t: Task) -> None:
    _, gap, grid = t.arrays
    for measure, error in ((gap, 0), ([-g for g in gap], 1), ([7.0] * len(gap), 0.5)):
        overall = sign_errors(measure, gap, grid).overall
        assert (overall.mean, overall.percentile_90, overall.robust) == (error, error, error)


@given(tasks())
def test_a_measure_and_its_negative_err_together_always(t: Task) -> None:
    measure, gap, grid = t.arrays
    negative = sign_errors([-m for m in measure], gap, grid)
    assert sign_errors(measure, gap, grid).overall.mean + negative.overall.mean == pytest.approx(1)
    assert sign_errors([m**3 + 5 for m in measure], gap, grid) == sign_errors(measure, gap, grid)


def test_two_settings_are_kendalls_tau() -> None:
    t = task([0.1, 0.2, 0.3, 0.15], [1.0, 3.0, 2.0, 2.0], a=4)
    assert sign_errors(*t.arrays).overall.mean == pytest.approx((1 - kendall_tau(*t.arrays[:2])) / 2)


def test_the_certainty_of_an_order() -> None:
    # 10,000 images: one half is reached at a difference of 0.0196 (exp(-5000 d^2) = (1 - sqrt(1/2)) / 2).
    assert order_certainty(0.0196, 10_000) == pytest.approx(0.5, abs=2e-3)
    assert (order_certainty(0.0, 10_000), order_certainty(1.0, 10_000)) == (0, 1)


def test_pairs_that_test_sets_cannot_order_are_discarded() -> None:
    # Along a: 0.10 and 0.11 are one within noise, 0.20 and 0.30 are not.
    t = task([0.10, 0.20, 0.11, 0.30], [1.0, 2.0, 0.0, 1.0], a=2, b=2)
    found = sign_errors(*t.arrays, test_images=10_000)
    assert (found.varied["a"].n_environments, found.varied["a"].mean) == (1, 1)
    assert (found.varied["b"].n_environments, found.varied["b"].mean) == (2, 0)
    assert found.n_discarded == 1
    with pytest.raises(ScoreUndefined, match="expected pairs that differ in one hyperparameter, found 4 too noisy"):
        sign_errors(*t.arrays, test_images=10)


def test_the_pairs_of_several_seeds_are_one_environment() -> None:
    gap = [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2]
    measure = [0.0, 0.0, 0.0, 3.0, 1.0, 1.0, 1.0, 2.0]  # of 16 pairs the 4 of one model are wrong
    t = task(gap, measure, a=2, seed=4)
    found = sign_errors(*t.arrays, seed="seed")
    assert found.overall.n_environments == 1
    assert found.overall.robust == pytest.approx(4 / 16)
    assert set(found.varied) == {"a"}
    # Surer pairs weigh more: the tenth gap of the wrong model is nearer to the others.
    near = sign_errors(measure, [0.1, 0.1, 0.1, 0.17, 0.2, 0.2, 0.2, 0.2], t.grid, test_images=10_000, seed="seed")
    assert near.overall.mean < 4 / 16


def test_too_few_seeds_are_discarded() -> None:
    t = task(TOY_GAP, TOY_GAP, a=2, b=2, seed=2)  # 4 pairs in each environment, 12 are wanted
    with pytest.raises(ScoreUndefined, match="found 4 too noisy"):
        sign_errors(*t.arrays, seed="seed")


def test_undefined_and_refused() -> None:
    lonely = Grid.from_hyperparameters({"a": [0, 1], "b": [0, 1]}, {"m": {"a": 0, "b": 0}, "n": {"a": 1, "b": 1}})
    with pytest.raises(ScoreUndefined, match="found 0 too noisy"):
        sign_errors([1.0, 2.0], [1.0, 2.0], lonely)
    with pytest.raises(ValueError, match="test_images: expected 1 or more, found 0"):
        sign_errors(*toy().arrays, test_images=0)
    with pytest.raises(ValueError, match="seed: expected one of a, b, c, found 'd'"):
        sign_errors(*toy().arrays, seed="d")
