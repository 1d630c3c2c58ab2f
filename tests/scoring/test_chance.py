"""The level of chance and p-values of one task: exact small cases, validity under chance, power."""

from collections.abc import Iterator

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, task, tasks, toy

from scoring import ScoreUndefined, compare_with_chance, official_score
from scoring.conditioning import conditioning
from scoring.permutations import Scorer


def random_task(rng: np.random.Generator) -> Task:
    gap, measure = rng.normal(size=(2, 32)).tolist()
    return task(gap, measure, a=2, b=2, c=2, d=2, e=2)


def test_the_level_is_the_mean_over_permutations() -> None:
    measure, gap, grid = random_task(np.random.default_rng(0)).arrays
    found = compare_with_chance(measure, gap, grid, n_permutations=2000)
    rng = np.random.default_rng(1)
    scores = [official_score(rng.permutation(measure), gap, grid).score for _ in range(500)]
    assert found.level == pytest.approx(np.mean(scores), abs=5 * np.std(scores) / np.sqrt(500))
    assert found.excess == found.score - found.level


def within_pairs(measure: list[float], groups: np.ndarray) -> Iterator[np.ndarray]:
    """All 16 permutations within four groups of two."""
    for swaps in np.ndindex(2, 2, 2, 2):
        permuted = np.array(measure)
        for (i, j), swap in zip(groups.astype(int), swaps, strict=True):
            if swap:
                permuted[[i, j]] = permuted[[j, i]]
        yield permuted


def test_p_values_by_counting_all_permutations() -> None:
    """2 x 2 x 2: a pair of hyperparameters leaves four groups of two, so 16 permutations."""
    measure, gap, grid = toy().arrays
    found = compare_with_chance(measure, gap, grid, n_permutations=20_000)
    observed = official_score(measure, gap, grid)
    for pair, p_value in found.p_values.items():
        scores = [official_score(one, gap, grid) for one in within_pairs(measure, grid.groups(range(8), by=pair))]
        reached = np.mean([score.score >= observed.score - 1e-9 for score in scores])
        assert p_value == pytest.approx(reached, abs=0.03)
    assert found.p_value == max(found.p_values.values())


@pytest.mark.parametrize("values", [6, 10**9])
@pytest.mark.parametrize("gaps", [4, 60, 10**9])
def test_quick_scores_are_the_official_ones(values: int, gaps: int) -> None:
    """With many ties, some, and none: pairs are counted in two ways."""
    random = np.random.default_rng(0)
    for t in (toy(), random_task(np.random.default_rng(3))):
        _, _, grid = t.arrays
        gap = random.integers(gaps, size=len(grid.models)).astype(float)
        rows = random.integers(values, size=(50, len(gap))).astype(float)
        quick = Scorer(np.array(gap), conditioning(grid))(rows)
        assert quick == pytest.approx([official_score(row, gap, grid).score for row in rows], abs=1e-12)


def test_a_measure_that_knows_nothing_is_seldom_significant() -> None:
    rng = np.random.default_rng(0)
    found = [compare_with_chance(*random_task(rng).arrays, n_permutations=99) for _ in range(40)]
    p_values = np.array([list(each.p_values.values()) for each in found])
    assert 0.35 < p_values.mean() < 0.65
    assert np.mean([each.p_value <= 0.1 for each in found]) <= 0.1


def test_a_measure_that_knows_the_gap_is_significant() -> None:
    t = random_task(np.random.default_rng(0))
    _, gap, grid = t.arrays
    found = compare_with_chance(gap, gap, grid, n_permutations=999)
    assert found.p_value == 1 / 1000  # no permutation reaches it
    assert found.excess > 0.9


def test_a_measure_that_knows_only_two_hyperparameters_is_not() -> None:
    """Values dealt out among models that share both are the same values: the p-value of those two is 1."""
    t = random_task(np.random.default_rng(0))
    gap = [g + 5 * cell["a"] + 5 * cell["b"] for g, cell in zip(t.gap.values(), t.current.values(), strict=True)]
    measure = [float(cell["a"] + cell["b"]) for cell in t.current.values()]
    found = compare_with_chance(measure, gap, t.grid, n_permutations=199)
    assert found.p_values["a", "b"] == found.p_value == 1


@pytest.mark.parametrize(("measure", "gap"), [([7.0] * 8, TOY_GAP), (TOY_MEASURE, [0.1] * 8)])
def test_ties_say_nothing(measure: list[float], gap: list[float]) -> None:
    found = compare_with_chance(measure, gap, toy().grid, n_permutations=50)
    assert (found.score, found.level, found.excess, found.p_value) == (0, 0, 0, 1)


@settings(max_examples=20)
@given(tasks(), st.integers(0, 5))
def test_only_the_order_counts_and_a_seed_repeats(t: Task, seed: int) -> None:
    measure, gap, grid = t.arrays
    found = compare_with_chance(measure, gap, grid, n_permutations=20, seed=seed)
    assert compare_with_chance([m**3 + 1 for m in measure], gap, grid, n_permutations=20, seed=seed) == found
    assert all(1 / 21 <= p_value <= 1 for p_value in found.p_values.values())


def test_one_permutation_is_enough() -> None:
    found = compare_with_chance(*toy().arrays, n_permutations=1)
    assert set(found.p_values.values()) <= {1 / 2, 1}


def test_the_seed_is_0_unless_another_one_is_given() -> None:
    random = random_task(np.random.default_rng(0)).arrays
    found, same, other = (compare_with_chance(*random, 20, *seed) for seed in ((), (0,), (1,)))
    assert found == same != other


def test_undefined_and_refused() -> None:
    with pytest.raises(ScoreUndefined, match="expected at least 3 hyperparameters that vary, found a, b"):
        compare_with_chance(*task(TOY_GAP, TOY_MEASURE, a=4, b=2).arrays)
    with pytest.raises(ValueError, match="n_permutations: expected 1 or more, found 0"):
        compare_with_chance(*toy().arrays, n_permutations=0)
