"""What a task can tell: the smallest p-value by counting, and the smallest difference by simulation."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, Task, task, tasks, toy

from scoring import Grid, ScoreUndefined, detectable_difference, official_score, smallest_p_value
from scoring.conditioning import conditioning
from scoring.permutations import Scorer


def grid_of(*sizes: int) -> Grid:
    number = int(np.prod(sizes))
    return task([0.0] * number, [0.0] * number, **dict(zip("abcdefg", sizes, strict=False))).grid


def exact_p_value(measure: np.ndarray, gap: np.ndarray, grid: Grid) -> float:
    """The share of all ways to deal values out among models that share two hyperparameters, the largest over pairs."""
    scorer, shares = Scorer(gap, conditioning(grid)), []
    for pair in conditioning(grid).sets:
        numbers = grid.group_numbers(pair)
        groups = [np.flatnonzero(numbers == number) for number in range(numbers.max() + 1)]
        order = np.concatenate(groups)
        deals = np.empty((0, measure.size))
        for dealt in product(*(permutations(group) for group in groups)):
            values = np.empty(measure.size)
            values[order] = measure[np.concatenate(dealt)]
            deals = np.vstack([deals, values])
        shares.append(np.mean(scorer(deals) >= official_score(measure, gap, grid).score - 1e-9))
    return float(max(shares))


def test_the_gap_itself_has_the_smallest_p_value_on_eight_networks() -> None:
    _, gap, grid = toy().arrays
    assert smallest_p_value(grid) == 1 / 16
    assert exact_p_value(np.array(gap), np.array(gap), grid) == 1 / 16


@given(tasks())
def test_no_measure_has_a_smaller_one(one: Task) -> None:
    """Also where gaps are equal, and the gap itself does not have the smallest."""
    measure, gap, grid = one.arrays
    if len(measure) == 8 and len(set(gap)) > 1:
        assert exact_p_value(np.array(measure), np.array(gap), grid) >= smallest_p_value(grid)


def test_larger_grids_have_smaller_p_values() -> None:
    assert [smallest_p_value(grid_of(*sizes)) for sizes in ((2, 2, 3), (3, 3, 2), (2, 2, 1, 2))] == [
        1 / 2**6, 1 / 2**9, 1 / 2**4,
    ]  # fmt: skip
    assert smallest_p_value(grid_of(2, 2, 2, 2)) == 1 / 24**4
    assert smallest_p_value(grid_of(10, 10, 10)) == 0.0


@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (2, 2, 2, 2, 2), (3, 3, 3)])
def test_a_difference_of_that_size_is_seen_in_8_of_10_cases(sizes: tuple[int, ...]) -> None:
    """Of measures with normal noise whose scores are about 25."""
    random, grid = np.random.default_rng(0), grid_of(*sizes)
    gap = random.normal(size=len(grid.models))
    scorer, noise = Scorer(gap, conditioning(grid)), random.normal(size=(2000, gap.size))
    strengths = np.linspace(0.05, 3, 60)
    strength = min(strengths, key=lambda one: abs(scorer(gap + one * noise[:300]).mean() - 0.25))
    scores = 100 * scorer(gap + strength * noise)
    differences = scores[:1000] - scores[1000:]
    wanted = detectable_difference(gap, grid)
    assert np.mean(differences + wanted > 1.645 * differences.std()) == pytest.approx(0.8, abs=0.1)


def test_only_the_order_of_gaps_counts() -> None:
    grid, gap = grid_of(2, 2, 2, 2), np.random.default_rng(0).normal(size=16)
    assert detectable_difference(gap, grid) == detectable_difference(np.exp(gap), grid)
    assert detectable_difference(gap, grid, seed=1) != detectable_difference(gap, grid)


def test_more_networks_see_smaller_differences() -> None:
    random = np.random.default_rng(0)
    grids = [grid_of(*sizes) for sizes in ((2,) * 4, (2,) * 5, (2, 2, 2, 2, 2, 3))]
    found = [detectable_difference(random.normal(size=len(grid.models)), grid) for grid in grids]
    assert found[0] > 1.3 * found[1] > 1.3 * 1.3 * found[2]


@pytest.mark.parametrize(("gap", "sizes"), [(TOY_GAP, (4, 2)), ([0.1] * 8, (2, 2, 2))])
def test_where_there_is_nothing_to_tell(gap: list[float], sizes: tuple[int, ...]) -> None:
    with pytest.raises(ScoreUndefined):
        detectable_difference(gap, grid_of(*sizes))
    if len(sizes) == 2:
        with pytest.raises(ScoreUndefined):
            smallest_p_value(grid_of(*sizes))
