"""Tests of the grid of hyperparameters, and of fits of the gaps by hyperparameters."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import Task, task, tasks

from scoring import Grid, GridError, ScoreUndefined, additive_fit, official_score

POSSIBLE: dict[str, list[Any]] = {"width": [64, 128], "depth": [2, 4]}
Damage = Callable[[dict[str, dict[str, Any]]], object]


def current() -> dict[str, dict[str, Any]]:
    cells = product(POSSIBLE["width"], POSSIBLE["depth"])
    return {f"model_{number}": {"width": width, "depth": depth} for number, (width, depth) in enumerate(cells)}


def test_a_grid_keeps_the_order_of_models_and_sorts_names() -> None:
    grid = Grid.from_hyperparameters(POSSIBLE, dict(reversed(current().items())))
    assert grid.models == ("model_3", "model_2", "model_1", "model_0")
    assert grid.names == ("depth", "width")
    assert grid.values == {"depth": (2, 4), "width": (64, 128)}
    assert grid.codes.tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]


def test_groups_share_the_values_they_are_grouped_by() -> None:
    grid = Grid.from_hyperparameters(POSSIBLE, current())
    assert grid.group_numbers(["width"]).tolist() == [0, 0, 1, 1]
    assert grid.group_numbers(["depth"]).tolist() == [0, 1, 0, 1]
    assert grid.group_numbers(["width", "depth"]).tolist() == [0, 1, 2, 3]
    assert grid.group_numbers([]).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "listed", "written"),
    [
        ("dropout", [0, 0.5], [0.0, "0.5"]),
        ("width", [256, 512], ["256", 512.0]),
        ("width", ["256", "512"], [256.0, np.int64(512)]),
        ("convwidth", [256, 512], [256.5, "512.9"]),  # the competition calls int() on this hyperparameter
        ("decay", [0.0, 1e-4], ["-0.0", "1E-4"]),
        ("optimizer", ["sgd", None], ["sgd", None]),
    ],
)
def test_the_same_value_matches_however_it_is_written(name: str, listed: list[Any], written: list[Any]) -> None:
    grid = Grid.from_hyperparameters({name: listed}, {"first": {name: written[0]}, "second": {name: written[1]}})
    assert grid.codes.tolist() == [[0], [1]]


def test_the_time_does_not_grow_with_the_square_of_the_number_of_values() -> None:
    compared = []

    class Text(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return str.__eq__(self, other)

    listed = [Text(f"value {number}") for number in range(1000)]
    grid = Grid.from_hyperparameters({"h": listed}, {str(n): {"h": value} for n, value in enumerate(listed)})
    assert grid.codes.ravel().tolist() == [*range(1000)]
    assert len(compared) < 10_000


def test_values_that_only_look_alike_stay_apart() -> None:
    listed: list[Any] = ["1_0", 10, "nan", "inf", 1, 11, 256.5]
    grid = Grid.from_hyperparameters({"h": listed}, {str(value): {"h": value} for value in listed})
    assert grid.values["h"] == tuple(listed)


def with_value(model: str, **values: Any) -> Damage:
    return lambda models: models[model].update(values)


def with_model(model: str, **values: Any) -> Damage:
    return lambda models: models.update({model: values})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (with_value("model_1", depth=8), "model 'model_1': hyperparameter 'depth': expected one of 2, 4, found 8"),
        (
            with_value("model_1", depth=[4]),
            "model 'model_1': hyperparameter 'depth': expected a finite number, text or null, found [4]",
        ),
        (
            with_model("copy", depth=4, width=64),
            "cell (depth=4, width=64): expected one model, found 'model_1' and 'copy'",
        ),
        (
            with_value("model_0", dropout=0),
            "model 'model_0': expected the hyperparameters depth, width, found depth, dropout, width",
        ),
        (with_model("copy"), "model 'copy': expected the hyperparameters depth, width, found none"),
        (
            dict.clear,
            "the grid is empty: expected at least one model and one hyperparameter, "
            "found 0 models and 2 hyperparameters",
        ),
    ],
)
def test_models_that_form_no_grid_are_refused(damage: Damage, message: str) -> None:
    models = current()
    damage(models)
    with pytest.raises(GridError, match=f"^{re.escape(message)}$"):
        Grid.from_hyperparameters(POSSIBLE, models)


@pytest.mark.parametrize(
    ("possible", "message"),
    [
        ([2, 4, "2.0"], "hyperparameter 'depth': expected distinct possible values, found 2 and '2.0'"),
        ([], "hyperparameter 'depth': expected at least one possible value, found none"),
        ([2, float("nan")], "hyperparameter 'depth': expected a finite number, text or null, found nan"),
    ],
)
def test_possible_values_that_make_no_axis_are_refused(possible: list[Any], message: str) -> None:
    with pytest.raises(GridError, match=f"^{re.escape(message)}$"):
        Grid.from_hyperparameters({"depth": possible}, {"m": {"depth": 2}})


def test_empty_cells_are_counted_and_the_first_is_named_at_once() -> None:
    models = current()
    del models["model_2"]
    grid = Grid.from_hyperparameters(POSSIBLE, models)
    assert (grid.is_complete, grid.n_cells) == (False, 4)
    assert grid.empty_cell() == "no model in cell (depth=2, width=128) (4 cells, 3 models)"
    whole = Grid.from_hyperparameters(POSSIBLE, current())
    assert (whole.is_complete, whole.empty_cell()) == (True, "")
    names = [f"h{i:02}" for i in range(60)]
    grid = Grid.from_hyperparameters({name: [0, 1] for name in names}, {"only": dict.fromkeys(names, 0)})
    assert "h59=1) (1152921504606846976 cells, 1 models)" in grid.empty_cell()


def test_two_models_in_a_cell_and_more_hyperparameters_than_any_study_has_are_refused() -> None:
    with pytest.raises(GridError, match="found 'a' and 'b'"):
        Grid(("a", "b"), ("depth",), {"depth": (2, 4)}, np.array([[0], [0]]))
    values = {f"h{n}": 0 for n in range(101)}
    possible = {name: [0] for name in values}
    with pytest.raises(GridError, match=r"^expected at most 100 hyperparameters, found 101$"):
        Grid.from_hyperparameters(possible, {"model": values})
    del possible["h100"], values["h100"]
    assert len(Grid.from_hyperparameters(possible, {"model": values}).sizes) == 100


def by_least_squares(gap: list[float], grid: Grid) -> np.ndarray:
    """Return the fit with an intercept and an indicator for each value, by a general solver."""
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


def test_gaps_without_interactions_are_fitted_perfectly_with_ties_where_nothing_differs() -> None:
    gap = [0.1 * a + 0.03 * b + 0.01 * c for a in range(2) for b in range(3) for c in range(2)]
    _, gaps, grid = task(gap, gap, a=2, b=3, c=2).arrays
    assert official_score(additive_fit(gaps, grid), gaps, grid).score == pytest.approx(1)
    # Rounding errors must not decide the order: they differ between processors.
    gap = [0.1 * a + 0.7 * b + 0.3 * (c != d) for a, b, c, d in product(range(2), repeat=4)]
    _, gaps, grid = task(gap, gap, a=2, b=2, c=2, d=2).arrays
    assert len(set(additive_fit(gaps, grid).tolist())) == 4


def test_without_an_official_score_there_is_no_fit() -> None:
    _, gap, grid = task([0.1, 0.2, 0.3, 0.4], [0.0] * 4, a=2, b=2).arrays
    with pytest.raises(ScoreUndefined):
        additive_fit(gap, grid)
    with pytest.raises(ValueError, match="one number per model"):
        additive_fit(gap[:3], grid)
