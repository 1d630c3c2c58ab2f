"""Tests of the level of chance and of p-values, for one or several tasks and the best of many; and of resolution."""

from itertools import permutations, product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, task, toy

from scoring import (
    Chance,
    Grid,
    ScoreUndefined,
    adjusted_p_values,
    compare_with_chance,
    detectable_difference,
    official_score,
    p_values,
    smallest_p_value,
)
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


def test_the_level_of_all_measures_without_ties_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measure, gap, grid = random_task(np.random.default_rng(0)).arrays
    first = compare_with_chance(measure, gap, grid, n_permutations=100)
    monkeypatch.setattr("scoring.chance.official_scores", lambda *_: pytest.fail("computed again"))
    assert compare_with_chance(gap, gap, grid, n_permutations=100).level == first.level


def exact_p_values(measure: np.ndarray, gap: np.ndarray, grid: Grid) -> dict[tuple[str, ...], float]:
    """Return pair of hyperparameters -> share of permutations among models that share both that score as high."""
    scorer, observed, found = Scorer(gap, conditioning(grid)), official_score(measure, gap, grid).score, {}
    for pair in conditioning(grid).sets:
        numbers = grid.group_numbers(pair)
        groups = [np.flatnonzero(numbers == number) for number in range(numbers.max() + 1)]
        dealt = [np.concatenate(deal) for deal in product(*(permutations(group) for group in groups))]
        values = np.empty((len(dealt), measure.size))
        values[:, np.concatenate(groups)] = measure[np.array(dealt)]
        found[pair] = float(np.mean(scorer(values) >= observed - 1e-9))
    return found


def test_p_values_by_counting_all_permutations() -> None:
    measure, gap, grid = toy().arrays
    found = compare_with_chance(measure, gap, grid, n_permutations=20_000)
    assert found.p_values == pytest.approx(exact_p_values(np.array(measure), np.array(gap), grid), abs=0.03)
    assert found.p_value == max(found.p_values.values())


@pytest.mark.parametrize("values", [6, 10**9])
@pytest.mark.parametrize("gaps", [4, 60, 10**9])
def test_quick_scores_are_the_official_ones(values: int, gaps: int) -> None:
    """`Scorer` and `official_score` count pairs in different ways; the cases have many, some and no ties."""
    random = np.random.default_rng(0)
    for t in (toy(), random_task(np.random.default_rng(3))):
        _, _, grid = t.arrays
        gap = random.integers(gaps, size=len(grid.models)).astype(float)
        rows = random.integers(values, size=(50, len(gap))).astype(float)
        quick = Scorer(np.array(gap), conditioning(grid))(rows)
        assert quick == pytest.approx([official_score(row, gap, grid).score for row in rows], abs=1e-12)


def test_known_measures_are_significant_unless_they_know_two_hyperparameters_only() -> None:
    t = random_task(np.random.default_rng(0))
    _, gap, grid = t.arrays
    found = compare_with_chance(gap, gap, grid, n_permutations=999)
    assert found.p_value == 1 / 1000  # no permutation reaches it
    assert found.excess > 0.9
    # Values dealt out among models that share both are the same values: the p-value of those two is 1.
    gap = [g + 5 * cell["a"] + 5 * cell["b"] for g, cell in zip(t.gap.values(), t.current.values(), strict=True)]
    measure = [float(cell["a"] + cell["b"]) for cell in t.current.values()]
    found = compare_with_chance(measure, gap, t.grid, n_permutations=199)
    assert found.p_values["a", "b"] == found.p_value == 1


@pytest.mark.parametrize(("measure", "gap"), [([7.0] * 8, TOY_GAP), (TOY_MEASURE, [0.1] * 8)])
def test_ties_say_nothing(measure: list[float], gap: list[float]) -> None:
    found = compare_with_chance(measure, gap, toy().grid, n_permutations=50)
    assert (found.score, found.level, found.excess, found.p_value) == (0, 0, 0, 1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_only_the_order_counts_and_a_seed_repeats(seed: int) -> None:
    measure, gap, grid = random_task(np.random.default_rng(seed)).arrays
    found = compare_with_chance(measure, gap, grid, 20, seed)
    assert compare_with_chance([m**3 + 1 for m in measure], gap, grid, 20, seed) == found
    assert all(1 / 21 <= p_value <= 1 for p_value in found.p_values.values())
    assert (compare_with_chance(measure, gap, grid, 20) == found) == (seed == 0)


def test_undefined_and_incomparable_scores_are_refused() -> None:
    with pytest.raises(ScoreUndefined, match="expected at least 3 hyperparameters that vary, found a, b"):
        compare_with_chance(*task(TOY_GAP, TOY_MEASURE, a=4, b=2).arrays)
    with pytest.raises(ValueError, match="n_permutations: expected 1 or more, found 0"):
        compare_with_chance(*toy().arrays, n_permutations=0)
    few, many = ({"t": chance(0.5, [0.1] * n)} for n in (4, 9))
    for wrong in ([few, many], [{}]):
        with pytest.raises(ValueError, match="expected a task for every measure, and as many permutations for all"):
            p_values(wrong)  # type: ignore[arg-type]


def chance(score: float, *dealt: list[float]) -> Chance:
    """Return a score with the scores of permutations; `dealt` has a list of these for each pair of hyperparameters."""
    return Chance(score, 0.0, 0.0, {(str(number), "x"): np.array(scores) for number, scores in enumerate(dealt)})


def test_p_values_of_one_task_and_of_several() -> None:
    one = chance(0.5, [0.1, 0.2, 0.3, 0.6], [0.1, 0.5, 0.7, 0.9])
    assert p_values([{"t": one}]).tolist() == [one.p_value] == [4 / 5]
    # Where every permutation gives the same score, luck has no part in how tasks meet.
    both = {"t": chance(0.5, [0.2] * 9, [0.4] * 9), "u": chance(0.5, [0.6] * 9, [0.1] * 9)}
    assert p_values([both]).tolist() == [1.0]  # (0.4 + 0.6) / 2 reaches the mean of 0.5
    assert p_values([both | {"u": chance(0.51, [0.6] * 9, [0.1] * 9)}]).tolist() == [1 / 10]


def test_adjusted_p_values_compare_with_the_best_by_chance_of_oneself_and_those_below() -> None:
    """Highest permuted scores of all three measures: 0.4, 0.5, 0.3, 0.6; of the lower two: 0.4, 0.2, 0.3, 0.6."""
    high, middle, low = (
        {"t": chance(score, dealt)}
        for score, dealt in ((0.55, [0.1, 0.5, 0.2, 0.1]), (0.35, [0.4, 0.1, 0.1, 0.2]), (0.3, [0.1, 0.2, 0.3, 0.6]))
    )
    assert adjusted_p_values([middle, low, high]).tolist() == [3 / 5, 3 / 5, 2 / 5]
    assert p_values([middle, low, high]).tolist() == [2 / 5, 3 / 5, 1 / 5]
    one, other = {"t": chance(0.5, [0.1, 0.2, 0.3, 0.6])}, {"t": chance(0.4, [0.3, 0.1, 0.1, 0.2])}
    alone, with_copies = adjusted_p_values([one, other]), adjusted_p_values([one, *[other] * 20])
    assert with_copies[:2].tolist() == alone.tolist()
    one = {"t": chance(0.5, [0.1, 0.2, 0.3, 0.6]), "u": chance(0.5, [0.1, 0.2, 0.3, 0.6])}
    assert adjusted_p_values([one]).tolist() == p_values([one]).tolist()
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


def grid_of(*sizes: int) -> Grid:
    number = int(np.prod(sizes))
    return task([0.0] * number, [0.0] * number, **dict(zip("abcdefg", sizes, strict=False))).grid


@pytest.mark.parametrize("sizes", [(2, 2, 2), (2, 2, 1, 2)])
def test_the_gap_itself_has_the_smallest_p_value_on_eight_networks(sizes: tuple[int, ...]) -> None:
    gap, grid = np.array(TOY_GAP), grid_of(*sizes)
    assert smallest_p_value(grid) == max(exact_p_values(gap, gap, grid).values()) == 1 / 16


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((2, 2, 1, 2), 2**-4), ((2, 2, 3), 2**-6), ((3, 3, 2), 2**-9), ((2, 2, 2, 2), 24**-4), ((10, 10, 10), 0)],
)
def test_larger_grids_have_smaller_p_values(sizes: tuple[int, ...], expected: float) -> None:
    assert smallest_p_value(grid_of(*sizes)) == expected


@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (3, 3, 3)])
def test_a_difference_of_that_size_is_seen_in_8_of_10_cases(sizes: tuple[int, ...]) -> None:
    """The measures have normal noise and scores of about 25."""
    random, grid = np.random.default_rng(0), grid_of(*sizes)
    gap = random.normal(size=len(grid.models))
    scorer, noise = Scorer(gap, conditioning(grid)), random.normal(size=(2000, gap.size))
    strengths = np.linspace(0.05, 3, 60)
    strength = min(strengths, key=lambda one: abs(scorer(gap + one * noise[:300]).mean() - 0.25))
    scores = 100 * scorer(gap + strength * noise)
    differences = scores[:1000] - scores[1000:]
    wanted = detectable_difference(gap, grid)
    assert np.mean(differences + wanted > 1.645 * differences.std()) == pytest.approx(0.8, abs=0.1)


def test_only_the_order_of_gaps_and_the_seed_count() -> None:
    grid, gap = grid_of(2, 2, 2, 2), np.random.default_rng(0).normal(size=16)
    assert detectable_difference(gap, grid) == detectable_difference(np.exp(gap), grid)
    assert detectable_difference(gap, grid, seed=1) != detectable_difference(gap, grid)


@pytest.mark.parametrize(("gap", "sizes"), [(TOY_GAP, (4, 2)), ([0.1] * 8, (2, 2, 2))])
def test_where_there_is_nothing_to_tell(gap: list[float], sizes: tuple[int, ...]) -> None:
    with pytest.raises(ScoreUndefined):
        detectable_difference(gap, grid_of(*sizes))
    if len(sizes) == 2:
        with pytest.raises(ScoreUndefined):
            smallest_p_value(grid_of(*sizes))
