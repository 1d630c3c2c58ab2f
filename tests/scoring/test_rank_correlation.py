"""Kendall's tau, overall and granulated: against SciPy, by hand, and in their limits."""

import pytest
from hypothesis import given
from scipy.stats import kendalltau
from scoring_examples import Task, task, tasks

from scoring import ScoreUndefined, granulated_kendall, kendall_tau


@given(tasks(distinct=True))
def test_equal_to_scipy_without_ties(t: Task) -> None:
    measure, gap, _ = t.arrays
    assert kendall_tau(measure, gap) == pytest.approx(kendalltau(measure, gap).statistic, abs=1e-12)


def test_ties_add_nothing_but_stay_in_the_normalisation() -> None:
    # Pairs (0,1), (0,2), (1,2): concordant, concordant, tied.
    assert kendall_tau([0.0, 1.0, 1.0], [0.0, 1.0, 2.0]) == pytest.approx(2 / 3)
    assert kendall_tau([1.0, 1.0, 1.0], [0.0, 1.0, 2.0]) == 0


def test_granulated_by_hand() -> None:
    t = task([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 3.0, 2.0, 9.0, 8.0, 7.0], a=2, b=3)
    result = granulated_kendall(*t.arrays)
    # a: three pairs (1,4), (2,5), (3,6), all in order. b: (1,3,2) has tau 1/3, (9,8,7) has tau -1.
    assert result.psi == pytest.approx({"a": 1.0, "b": (1 / 3 - 1) / 2})
    assert result.score == pytest.approx((1 + (1 / 3 - 1) / 2) / 2)


@given(tasks(distinct=True))
def test_perfect_and_reversed(t: Task) -> None:
    _, gap, grid = t.arrays
    reverse = [-g for g in gap]
    assert (kendall_tau(gap, gap), kendall_tau(reverse, gap)) == (1, -1)
    assert (granulated_kendall(gap, gap, grid).score, granulated_kendall(reverse, gap, grid).score) == (1, -1)


@given(tasks())
def test_range_sign_and_scale(t: Task) -> None:
    measure, gap, grid = t.arrays
    result = granulated_kendall(measure, gap, grid)
    assert set(result.psi) == set(grid.varying)  # a hyperparameter with one value has no psi
    assert -1 <= result.score <= 1
    assert -1 <= kendall_tau(measure, gap) <= 1
    assert granulated_kendall([m**3 + 5 for m in measure], gap, grid) == result
    assert granulated_kendall([-m for m in measure], gap, grid).score == pytest.approx(-result.score)


def test_huge_numbers_do_not_overflow() -> None:
    assert kendall_tau([-1.7e308, 1.7e308], [0.0, 1.0]) == 1


def test_too_few_models() -> None:
    with pytest.raises(ScoreUndefined, match="expected at least 2 models, found 1"):
        kendall_tau([1.0], [1.0])
    with pytest.raises(ScoreUndefined, match="expected models that differ in one hyperparameter only, found none"):
        granulated_kendall(*task([1.0], [1.0], a=1).arrays)


def test_groups_of_a_grid_with_empty_cells() -> None:
    """Without (1, 2): along a, groups {0, 3} and {1, 4}, both concordant; along b, {0, 1, 2} and {3, 4}."""
    whole = task([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 2.0, 1.0, 3.0, 4.0, 5.0], a=2, b=3)
    rest = whole.with_models_in_order([f"model_{number}" for number in range(5)])
    assert not rest.grid.is_complete
    result = granulated_kendall(*rest.arrays)
    assert result.psi == pytest.approx({"a": 1.0, "b": (1 / 3 + 1) / 2})
    assert result.score == pytest.approx((1 + 2 / 3) / 2)


@given(tasks())
def test_the_mean_over_groups_of_equal_size_is_the_mean_over_pairs(t: Task) -> None:
    """As the vectorised definition has it for complete grids."""
    measure, gap, grid = t.arrays
    for name, psi in granulated_kendall(measure, gap, grid).psi.items():
        others = [other for other in grid.names if other != name]
        rows = zip(grid.groups(measure, by=others), grid.groups(gap, by=others), strict=True)
        assert psi == pytest.approx(
            sum(kendall_tau(*row) for row in rows) / (len(grid.models) / len(grid.values[name]))
        )
