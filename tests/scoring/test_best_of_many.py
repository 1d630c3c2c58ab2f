"""P-values of the mean score over tasks, and of the best of many measures: exact cases, order, and level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import Chance, adjusted_p_values, compare_with_chance, p_values
from tests.scoring.scoring_examples import task

PAIR = ("a", "b")


def chance(score: float, *dealt: list[float]) -> Chance:
    """A score beside scores under chance, a list for each pair of hyperparameters."""
    return Chance(score, 0.0, 0.0, {(str(number), "x"): np.array(scores) for number, scores in enumerate(dealt)})


def test_on_one_task_it_is_the_largest_p_value_of_all_pairs() -> None:
    one = chance(0.5, [0.1, 0.2, 0.3, 0.6], [0.1, 0.5, 0.7, 0.9])
    assert p_values([{"t": one}]).tolist() == [one.p_value] == [4 / 5]


def test_alone_a_measure_needs_no_adjustment() -> None:
    one = {"t": chance(0.5, [0.1, 0.2, 0.3, 0.6]), "u": chance(0.5, [0.1, 0.2, 0.3, 0.6])}
    assert adjusted_p_values([one]).tolist() == p_values([one]).tolist()


def test_each_is_compared_with_the_best_by_chance_of_itself_and_those_below() -> None:
    """With the same four permutations: the best of all has 0.4, 0.5, 0.3, 0.6; of the lower two 0.4, 0.2, 0.3, 0.6."""
    high, middle, low = (
        {"t": chance(score, dealt)}
        for score, dealt in ((0.55, [0.1, 0.5, 0.2, 0.1]), (0.35, [0.4, 0.1, 0.1, 0.2]), (0.3, [0.1, 0.2, 0.3, 0.6]))
    )
    assert adjusted_p_values([middle, low, high]).tolist() == [3 / 5, 3 / 5, 2 / 5]
    assert p_values([middle, low, high]).tolist() == [2 / 5, 3 / 5, 1 / 5]


def test_copies_of_a_measure_cost_nothing() -> None:
    one, other = {"t": chance(0.5, [0.1, 0.2, 0.3, 0.6])}, {"t": chance(0.4, [0.3, 0.1, 0.1, 0.2])}
    alone, with_copies = adjusted_p_values([one, other]), adjusted_p_values([one, *[other] * 20])
    assert with_copies[:2].tolist() == alone.tolist()


def test_several_tasks_have_the_mean_of_the_worst_cases() -> None:
    """Where every permutation gives the same score, luck has no part in how tasks meet."""
    both = {"t": chance(0.5, [0.2] * 9, [0.4] * 9), "u": chance(0.5, [0.6] * 9, [0.1] * 9)}
    assert p_values([both]).tolist() == [1.0]  # (0.4 + 0.6) / 2 reaches the mean of 0.5
    assert p_values([both | {"u": chance(0.51, [0.6] * 9, [0.1] * 9)}]).tolist() == [1 / 10]


def test_nobody_has_no_p_value() -> None:
    assert p_values([]).size == adjusted_p_values([]).size == 0


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 3))
def test_adjusted_ones_are_no_smaller_and_rise_as_scores_fall(seed: int, n_measures: int, n_tasks: int) -> None:
    random = np.random.default_rng(seed)
    measures = [
        {str(t): chance(float(random.integers(5)) / 4, *random.integers(5, size=(2, 19)) / 4) for t in range(n_tasks)}
        for _ in range(n_measures)
    ]
    own, adjusted = p_values(measures), adjusted_p_values(measures)
    assert (adjusted >= own).all()
    scores = np.array([np.mean([one.score for one in tasks.values()]) for tasks in measures])
    assert (np.diff(adjusted[np.argsort(-scores, kind="stable")]) >= 0).all()


@pytest.mark.parametrize("n_tasks", [1, 3])
def test_the_best_of_twenty_useless_measures_is_seldom_significant(n_tasks: int) -> None:
    """Half of them follow one hyperparameter; their own p-values would be significant on two boards of ten."""
    random = np.random.default_rng(0)
    smallest = []
    for _ in range(30):
        boards: list[dict[str, Chance]] = [{} for _ in range(20)]
        for number in range(n_tasks):
            gap = random.normal(size=16)
            for place, tasks in enumerate(boards):
                known = task(gap.tolist(), random.normal(size=16).tolist(), a=2, b=2, c=2, d=2)
                values = np.array([*known.measure.values()]) + (place % 2) * 2 * known.grid.codes[:, 0]
                tasks[str(number)] = compare_with_chance(values, gap, known.grid, n_permutations=99)
        smallest.append(adjusted_p_values(boards).min())
    assert np.mean(np.array(smallest) <= 0.1) <= 0.2


def test_what_cannot_be_compared_is_refused() -> None:
    few, many = ({"t": chance(0.5, [0.1] * n)} for n in (4, 9))
    for wrong in ([few, many], [{}]):
        with pytest.raises(ValueError, match="expected a task for every measure, and as many permutations for all"):
            p_values(wrong)  # type: ignore[arg-type]
