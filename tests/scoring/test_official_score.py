"""Tests of grids and their fits, and of the competition's published score: its program's values, parts, empty cells."""

import re
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import FEW, TOY_GAP, TOY_MEASURE, Task, cells, literal_official_score, task, tasks, toy

from scoring import Grid, GridError, ScoreUndefined, additive_fit, explain_score, given_score, official_score


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (TOY_GAP, 1.000000000003271),
        ([-g for g in TOY_GAP], 0.4747705595857634),
        ([7.0] * 8, 0.0),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0.22994138728613991),
        (TOY_MEASURE, 0.2954181599391297),
        ([-m for m in TOY_MEASURE], 0.21215583937561955),
    ],
)
def test_the_values_of_the_competitions_own_program(measure: list[float], expected: float) -> None:
    assert official_score(*toy(measure).arrays).score == pytest.approx(expected, rel=0, abs=1e-12)


def test_every_pair_of_hyperparameters_has_its_value() -> None:
    result = official_score(*toy().arrays)
    expected = {("a", "b"): 0.2954181599, ("a", "c"): 0.3648053416, ("b", "c"): 0.7373852798}
    assert result.pairs == pytest.approx(expected, rel=0, abs=1e-10)
    assert result.score == min(result.pairs.values())


INCREASING = st.sampled_from([np.exp, np.cbrt, lambda m: m**3, lambda m: 3 * m - 7, lambda m: m * 4e307])


@given(tasks(), st.data(), INCREASING)
def test_equal_to_the_literal_program_with_ties_too_in_any_order_of_models_and_scale_of_the_measure(
    t: Task, data: st.DataObject, increasing: Callable[[np.ndarray], np.ndarray]
) -> None:
    measure, gap, grid = t.arrays
    found = official_score(measure, gap, grid)
    assert found.score == pytest.approx(literal_official_score(t), rel=0, abs=1e-12)
    assert official_score(increasing(np.array(measure)), gap, grid) == found
    assert official_score(*t.with_models_in_order(data.draw(st.permutations(list(t.current)))).arrays) == found
    # The 1e-12 inside the program's logarithm weighs more, the rarer a positive sign is.
    assert max(found.score, official_score(gap, gap, grid).score) <= 1 + 1e-10


@pytest.mark.parametrize(
    ("sizes", "found"), [({"a": 8}, "a"), ({"a": 4, "b": 2}, "a, b"), ({"a": 4, "b": 2, "c": 1}, "a, b")]
)
def test_fewer_than_three_varying_hyperparameters_have_no_score(sizes: dict[str, int], found: str) -> None:
    t = task(TOY_GAP, TOY_MEASURE, **sizes)
    for score in (official_score, explain_score):
        with pytest.raises(ScoreUndefined, match=rf"expected at least 3 hyperparameters that vary, found {found}$"):
            score(*t.arrays)


def test_a_grid_whose_cells_need_too_much_memory_has_no_score() -> None:
    sizes = {"a": 67, "b": 67, "c": 2}
    grid = Grid.from_hyperparameters({name: range(size) for name, size in sizes.items()}, cells(**sizes))
    numbers = [*range(len(grid.models))]
    with pytest.raises(ScoreUndefined, match=r"at most 20,000,000 cells of pairs of models, found 20,187,033: two"):
        official_score(numbers, numbers, grid)


@pytest.mark.parametrize(
    ("measure", "gap", "message"),
    [
        (TOY_MEASURE[:7], TOY_GAP, "expected the same length, found 7 and 8"),
        (TOY_MEASURE[:7], TOY_GAP[:7], r"expected one number per model \(8\), found 7"),
        ([*TOY_MEASURE[:7], float("nan")], TOY_GAP, "measure: expected finite numbers, found nan at position 7"),
        (TOY_MEASURE, [*TOY_GAP[:7], float("-inf")], "gap: expected finite numbers, found -inf at position 7"),
        ([TOY_MEASURE], TOY_GAP, r"measure: expected one number per model, found an array of shape \(1, 8\)"),
    ],
)
def test_wrong_numbers_are_refused(measure: list[float], gap: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        official_score(measure, gap, toy().grid)


def test_a_hyperparameter_with_one_value_conditions_on_nothing() -> None:
    """As in the competition's program, the pair (a, d) conditions only on a, since d has a single value."""
    current = {m: {**cell, "d": 0} for m, cell in cells(a=2, b=2, c=2).items()}
    grid = Grid.from_hyperparameters({"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": [0]}, current)
    result = official_score(TOY_MEASURE, TOY_GAP, grid)
    assert set(result.pairs) == set(combinations("abcd", 2))
    assert result.pairs["a", "b"] == official_score(*toy().arrays).pairs["a", "b"]


@FEW
@given(tasks())
def test_cells_sum_to_the_score(t: Task) -> None:
    score, explained = official_score(*t.arrays), explain_score(*t.arrays)
    assert explained.score == score.score == score.pairs[explained.deciding]
    assert sum(cell.share for cell in explained.cells) == pytest.approx(score.score, abs=1e-9)
    groups = np.prod([len(t.grid.values[name]) for name in explained.deciding])
    assert len({(cell.first, cell.second) for cell in explained.cells}) == len(explained.cells) == groups**2


def test_cells_name_the_values_of_both_models() -> None:
    explained = explain_score(*toy().arrays)
    assert explained.deciding == ("a", "b")
    cell = next(cell for cell in explained.cells if (cell.first, cell.second) == ((0, 0), (0, 1)))
    # Of four pairs: (+, -) once, (-, +) once, (-, -) twice; the second of the program's first four tables.
    assert cell.information == pytest.approx(0.5 * np.log2(4 / 3) + 0.5 * np.log2(8 / 9))
    assert cell.entropy == pytest.approx(-(1 / 4 * np.log2(1 / 4) + 3 / 4 * np.log2(3 / 4)))


def test_the_cost_of_a_pair_is_what_mending_it_gains() -> None:
    """Two neighbours in the measure's order are swapped, which changes only their own order."""
    gap = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    measure = [1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0, 8.0]
    t = task(gap, measure, a=2, b=2, c=2)
    before = official_score(*t.arrays)
    explained = explain_score(*t.arrays)
    (costly,) = explained.costly_pairs
    assert (costly.larger_gap, costly.smaller_gap) == ("model_4", "model_3")
    assert costly.difference == pytest.approx(0.1)
    perfect = official_score(gap, gap, t.grid).pairs[explained.deciding]
    assert costly.cost == pytest.approx(perfect - before.pairs[explained.deciding], abs=1e-9)


@FEW
@given(tasks())
def test_costs_fall_and_are_those_of_wrong_orders(t: Task) -> None:
    pairs = explain_score(*t.arrays, n_pairs=1000).costly_pairs
    costs = [pair.cost for pair in pairs]
    assert costs == pytest.approx(sorted(costs, reverse=True), abs=1e-12)
    for pair in pairs:
        assert t.gap[pair.larger_gap] > t.gap[pair.smaller_gap]
        assert t.measure[pair.larger_gap] <= t.measure[pair.smaller_gap]
        assert pair.cost > 0
    assert explain_score(*t.arrays, n_pairs=3).costly_pairs == pairs[:3]


def test_without_a_wrong_order_or_a_right_one_there_is_nothing_to_explain() -> None:
    assert explain_score(TOY_GAP, TOY_GAP, toy().grid).costly_pairs == ()
    constant = explain_score([1.0] * 8, TOY_GAP, toy().grid)
    assert (constant.score, {cell.share for cell in constant.cells}) == (0, {0})
    equal_gaps = explain_score(TOY_MEASURE, [0.1] * 8, toy().grid)
    assert (str(equal_gaps.score), equal_gaps.costly_pairs) == ("0.0", ())  # not -0.0


def rows(n_levels: int, *, missing: tuple[int, ...] = ()) -> tuple[Grid, list[int]]:
    """Return a grid of a, b and augmentation level that lacks the models `missing`; and the numbers of its models."""
    cells = [{"a": a, "b": b, "level": level} for a in (0, 1) for b in (0, 1) for level in range(n_levels)]
    kept = [number for number in range(len(cells)) if number not in missing]
    possible = {"a": [0, 1], "b": [0, 1], "level": list(range(n_levels))}
    return Grid.from_hyperparameters(possible, {f"model_{n}": cells[n] for n in kept}), kept


@given(st.integers(0, 10**6))
def test_given_every_hyperparameter_it_is_the_official_score(seed: int) -> None:
    gap, measure = np.random.default_rng(seed).normal(size=(2, 12)).tolist()
    numbers = task(gap, measure, a=2, b=3, c=2).arrays
    found = given_score(*numbers, names=["a", "b", "c"])
    assert found.score == official_score(*numbers).score
    assert found.pairs == official_score(*numbers).pairs
    assert 0 <= found.low <= found.score <= found.high


def test_given_scores_of_named_pairs_and_of_groups() -> None:
    numbers = toy().arrays
    assert given_score(*numbers, names=["c", "b", "c"]) == given_score(*numbers, names=["c", "b"])
    assert given_score(*numbers, names=["c", "b"]).pairs == {("b", "c"): official_score(*numbers).pairs["b", "c"]}
    # Three levels in each of four groups: the gap itself tells everything, and noise little.
    grid, kept = rows(3)
    gap = np.random.default_rng(0).permutation(len(kept)).astype(float)
    assert given_score(gap, gap, grid, ["a", "b"]).score == pytest.approx(1)
    assert given_score(np.zeros(len(kept)), gap, grid, ["a", "b"]).score == 0


def test_missing_models_leave_the_other_cells_as_they_are() -> None:
    """The expected score is computed by hand: the cells of a group without models add nothing to either sum."""
    grid, kept = rows(3, missing=(0, 1, 2, 7))
    gap, measure = np.random.default_rng(3).normal(size=(2, len(kept)))
    groups = [n // 3 for n in kept]
    information = entropy = 0.0
    for first in set(groups):
        for second in set(groups):
            pairs = [(i, j) for i, g in enumerate(groups) for j, h in enumerate(groups) if (g, h) == (first, second)]
            signs = [(gap[i] > gap[j], measure[i] > measure[j]) for i, j in pairs]
            joint = {s: signs.count(s) / len(signs) for s in set(signs)}
            of_gap, of_measure = ({v: sum(p for s, p in joint.items() if s[k] == v) for v in (0, 1)} for k in (0, 1))
            information += sum(p * np.log2(p / (of_gap[s[0]] * of_measure[s[1]])) for s, p in joint.items())
            entropy -= sum(p * np.log2(p) for p in of_gap.values() if p)
    assert given_score(measure, gap, grid, ["a", "b"]).score == pytest.approx(information / entropy)


@pytest.mark.parametrize(
    ("gap", "names", "error", "message"),
    [
        (TOY_GAP, ["a"], ScoreUndefined, "at least 2 hyperparameters"),
        ([0.1] * 8, ["a", "b"], ScoreUndefined, r"^given a and b, no group has two models with different gaps"),
        (TOY_GAP, ["a", "width"], ValueError, "found width"),
    ],
)
def test_what_cannot_be_scored_is_refused(
    gap: list[float], names: list[str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        given_score(TOY_MEASURE, gap, toy().grid, names)


POSSIBLE: dict[str, list[Any]] = {"width": [64, 128], "depth": [2, 4]}


def current() -> dict[str, dict[str, Any]]:
    cells = product(POSSIBLE["width"], POSSIBLE["depth"])
    return {f"model_{number}": {"width": width, "depth": depth} for number, (width, depth) in enumerate(cells)}


def test_a_grid_keeps_the_order_of_models_sorts_names_and_groups_models_by_values() -> None:
    grid = Grid.from_hyperparameters(POSSIBLE, dict(reversed(current().items())))
    assert grid.models == ("model_3", "model_2", "model_1", "model_0")
    assert grid.names == ("depth", "width")
    assert grid.values == {"depth": (2, 4), "width": (64, 128)}
    assert grid.codes.tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]
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


OF_MODEL, OF_DEPTH = "model 'model_1': ", "hyperparameter 'depth': expected"
NAMES = "expected the hyperparameters depth, width, found"
ONE_PER_CELL = "cell (depth=4, width=64): expected one model, found 'model_1' and 'b'"
FINITE = "a finite number, text or null"
EMPTY = "expected at least one model and one hyperparameter, found 0 models and 2 hyperparameters"


@pytest.mark.parametrize(
    ("depths", "changed", "message"),
    [
        ([2, 4], {"model_1": {"depth": 8, "width": 64}}, f"{OF_MODEL}{OF_DEPTH} one of 2, 4, found 8"),
        ([2, 4], {"model_1": {"depth": [4], "width": 64}}, f"{OF_MODEL}{OF_DEPTH} {FINITE}, found [4]"),
        ([2, 4], {"b": {"depth": 4, "width": 64}}, ONE_PER_CELL),
        ([2, 4], {"b": {"depth": 2, "width": 64, "dropout": 0}}, f"model 'b': {NAMES} depth, dropout, width"),
        ([2, 4], {"b": {}}, f"model 'b': {NAMES} none"),
        ([2, 4], None, f"the grid is empty: {EMPTY}"),
        ([2, 4, "2.0"], {}, f"{OF_DEPTH} distinct possible values, found 2 and '2.0'"),
        ([], {}, f"{OF_DEPTH} at least one possible value, found none"),
        ([2, float("nan")], {}, f"{OF_DEPTH} {FINITE}, found nan"),
    ],
)
def test_models_and_values_that_form_no_grid_are_refused(
    depths: list[Any], changed: dict[str, dict[str, Any]] | None, message: str
) -> None:
    models = {} if changed is None else current() | changed
    with pytest.raises(GridError, match=f"^{re.escape(message)}$"):
        Grid.from_hyperparameters(POSSIBLE | {"depth": depths}, models)


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


def test_more_hyperparameters_than_any_study_has_are_refused() -> None:
    values = {f"h{n}": 0 for n in range(101)}
    possible = {name: [0] for name in values}
    with pytest.raises(GridError, match=r"^expected at most 100 hyperparameters, found 101$"):
        Grid.from_hyperparameters(possible, {"model": values})
    del possible["h100"], values["h100"]
    assert len(Grid.from_hyperparameters(possible, {"model": values}).sizes) == 100


@given(tasks(), st.randoms())
def test_the_fit_is_that_of_least_squares_in_any_order_of_models(one: Task, random: st.DataObject) -> None:
    _, gap, grid = one.arrays
    models = list(grid.models)
    random.shuffle(models)  # type: ignore[attr-defined]
    _, other_gap, other_grid = one.with_models_in_order(models).arrays
    fit = additive_fit(gap, grid)
    usual = dict(zip(grid.models, fit, strict=True))
    assert dict(zip(models, additive_fit(other_gap, other_grid), strict=True)) == usual
    indicators = [np.eye(size)[codes] for size, codes in zip(grid.sizes, grid.codes.T, strict=True)]
    design = np.hstack([np.ones((len(gap), 1)), *indicators])
    assert fit == pytest.approx(design @ np.linalg.lstsq(design, np.array(gap), rcond=None)[0], abs=1e-9)


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
