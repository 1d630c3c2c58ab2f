"""Why a score is what it is: parts sum to the whole, and the cost of a pair is what mending it gains."""

import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, task, tasks, toy

from scoring import ScoreUndefined, explain_score, official_score


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
    """Two neighbours in the measure's order are swapped: only their own order changes."""
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


def test_a_perfect_measure_has_no_costly_pair() -> None:
    assert explain_score(TOY_GAP, TOY_GAP, toy().grid).costly_pairs == ()


def test_ties() -> None:
    constant = explain_score([1.0] * 8, TOY_GAP, toy().grid)
    assert (constant.score, {cell.share for cell in constant.cells}) == (0, {0})
    equal_gaps = explain_score(TOY_MEASURE, [0.1] * 8, toy().grid)
    assert (equal_gaps.score, equal_gaps.costly_pairs) == (0, ())


def test_two_hyperparameters_have_nothing_to_explain() -> None:
    with pytest.raises(ScoreUndefined, match="expected at least 3 hyperparameters that vary, found a, b"):
        explain_score(*task(TOY_GAP, TOY_MEASURE, a=4, b=2).arrays)
