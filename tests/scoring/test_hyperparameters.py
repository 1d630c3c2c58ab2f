"""Fits of the gaps by hyperparameters: least squares, whatever the order of models and values, with ties kept."""

from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, Task, cells, task, tasks, toy

from scoring import Grid, ScoreUndefined, additive_fit, fit_from_effects, main_effects, official_score
from scoring.values import Value


def by_least_squares(gap: list[float], grid: Grid) -> np.ndarray:
    """An intercept and an indicator per value, by a general solver."""
    indicators = [np.eye(size)[codes] for size, codes in zip(grid.sizes, grid.codes.T, strict=True)]
    design = np.hstack([np.ones((len(gap), 1)), *indicators])
    return design @ np.linalg.lstsq(design, np.array(gap), rcond=None)[0]


@given(tasks())
def test_the_fit_is_that_of_least_squares(one: Task) -> None:
    _, gap, grid = one.arrays
    assert additive_fit(gap, grid) == pytest.approx(by_least_squares(gap, grid), abs=1e-9)


@given(tasks(), st.randoms())
def test_the_order_of_models_does_not_matter(one: Task, random: st.DataObject) -> None:
    _, gap, grid = one.arrays
    models = list(grid.models)
    random.shuffle(models)  # type: ignore[attr-defined]
    _, other_gap, other_grid = one.with_models_in_order(models).arrays
    usual = dict(zip(grid.models, additive_fit(gap, grid), strict=True))
    assert dict(zip(models, additive_fit(other_gap, other_grid), strict=True)) == usual


def test_gaps_without_interactions_are_fitted_perfectly() -> None:
    gap = [0.1 * a + 0.03 * b + 0.01 * c for a in range(2) for b in range(3) for c in range(2)]
    _, gaps, grid = task(gap, gap, a=2, b=3, c=2).arrays
    assert official_score(additive_fit(gaps, grid), gaps, grid).score == pytest.approx(1)


def test_a_hyperparameter_without_an_effect_leaves_ties() -> None:
    """Rounding errors must not decide the order: they differ between processors."""
    gap = [0.1 * a + 0.7 * b + 0.3 * (c != d) for a, b, c, d in product(range(2), repeat=4)]
    _, gaps, grid = task(gap, gap, a=2, b=2, c=2, d=2).arrays
    assert len(set(additive_fit(gaps, grid).tolist())) == 4


def grid_of(values: list[Value]) -> Grid:
    """A 2 x 2 x 2 grid whose first hyperparameter has these values, in this order."""
    current = {model: cell | {"a": [16, 160][cell["a"]]} for model, cell in cells(a=2, b=2, c=2).items()}
    return Grid.from_hyperparameters({"a": values, "b": [0, 1], "c": [0, 1]}, current)


def test_an_effect_goes_from_the_smallest_value_to_the_largest() -> None:
    difference = np.mean(TOY_GAP[4:]) - np.mean(TOY_GAP[:4])
    for values in ([16, 160], [160, 16], ["160", 16.0]):
        assert main_effects(TOY_GAP, grid_of(values))["a"] == pytest.approx(difference)  # type: ignore[arg-type]


@given(tasks())
def test_effects_are_slopes_of_one_least_squares_fit(one: Task) -> None:
    _, gap, grid = one.arrays
    scaled = {name: grid.codes[:, grid.names.index(name)] / (len(grid.values[name]) - 1) for name in grid.varying}
    design = np.column_stack([np.ones(len(gap)), *scaled.values()])
    slopes = np.linalg.lstsq(design, np.array(gap), rcond=None)[0][1:]
    assert main_effects(gap, grid) == pytest.approx(dict(zip(scaled, slopes, strict=True)), abs=1e-9)


def test_effects_of_other_tasks_are_averaged_where_names_meet() -> None:
    grid = toy().grid
    found = fit_from_effects([{"a": 1.0, "other": 5.0}, {"a": 3.0, "b": -1.0}], grid)
    assert found is not None
    assert (found - found[0]).tolist() == [0, 0, -1, -1, 2, 2, 1, 1]
    assert fit_from_effects([{"other": 5.0}], grid) is None
    assert fit_from_effects([], grid) is None


def test_without_an_official_score_there_is_no_fit() -> None:
    _, gap, grid = task([0.1, 0.2, 0.3, 0.4], [0.0] * 4, a=2, b=2).arrays
    for fit in (additive_fit, main_effects):
        with pytest.raises(ScoreUndefined):
            fit(gap, grid)
        with pytest.raises(ValueError, match="one number per model"):
            fit(gap[:3], grid)
