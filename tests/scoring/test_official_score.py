"""Tests of the competition's published score: its program's values, a literal reading, parts, empty cells."""

from collections.abc import Callable
from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, cells, literal_official_score, task, tasks, toy

from scoring import Grid, ScoreUndefined, explain_score, given_score, official_score


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


@given(tasks())
def test_equal_to_the_literal_program(t: Task) -> None:
    assert official_score(*t.arrays).score == pytest.approx(literal_official_score(t), rel=0, abs=1e-12)


@given(tasks(), st.sampled_from([np.exp, np.cbrt, lambda m: m**3, lambda m: 3 * m - 7, lambda m: m * 4e307]))
def test_only_the_order_of_the_measure_counts(t: Task, increasing: Callable[[np.ndarray], np.ndarray]) -> None:
    measure, gap, grid = t.arrays
    assert official_score(increasing(np.array(measure)), gap, grid) == official_score(measure, gap, grid)


@given(tasks(), st.data())
def test_the_order_of_models_does_not_matter(t: Task, data: st.DataObject) -> None:
    models = data.draw(st.permutations(list(t.current)))
    assert official_score(*t.with_models_in_order(models).arrays) == official_score(*t.arrays)


@given(tasks())
def test_with_ties_too_up_to_the_programs_own_constant(t: Task) -> None:
    # The 1e-12 inside the logarithm weighs more, the rarer a positive sign is.
    measure, gap, grid = t.arrays
    assert 0 <= official_score(measure, gap, grid).score <= 1 + 1e-10
    assert 0 <= official_score(gap, gap, grid).score <= 1 + 1e-10


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
    assert cell.information == pytest.approx(bits_of([[0, 1], [1, 2]]))
    assert cell.entropy == pytest.approx(-(1 / 4 * np.log2(1 / 4) + 3 / 4 * np.log2(3 / 4)))


def bits_of(table: list[list[int]]) -> float:
    p = np.array(table) / np.sum(table)
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
    return float(sum(p[i] * np.log2(p[i] / independent[i]) for i in np.ndindex(2, 2) if p[i]))


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
