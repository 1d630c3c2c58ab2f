"""The competition's published score: its own program's values, a literal reading of it, invariances."""

from collections.abc import Callable
from itertools import combinations, product
from math import log2

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, cells, task, tasks, toy

from scoring import Grid, ScoreUndefined, official_score
from scoring.conditioning import conditioning
from scoring.official import cell_frequencies


def literal_official_score(t: Task) -> float:
    """Word for word: loops, one 2x2 table per cell, no shortcut."""
    models = list(t.current)
    possible = {name: {cell[name] for cell in t.current.values()} for name in t.current[models[0]]}
    scores = []
    for h1, h2 in combinations(sorted(possible), 2):
        keys = product(possible[h1], possible[h1], possible[h2], possible[h2])
        tables = {key: [[0, 0], [0, 0]] for key in keys}
        for i, j in product(models, models):
            key = (t.current[i][h1], t.current[j][h1], t.current[i][h2], t.current[j][h2])
            row = 0 if t.gap[i] > t.gap[j] else 1
            column = 0 if t.measure[i] > t.measure[j] else 1
            tables[key][row][column] += 1
        information = entropy = 0.0
        for table in tables.values():
            n = sum(map(sum, table))
            p_gap = [sum(row) / n for row in table]
            p_measure = [(table[0][k] + table[1][k]) / n for k in (0, 1)]
            entropy -= sum(p * log2(p + 1e-12) for p in p_gap)
            for r, c in product((0, 1), (0, 1)):
                if table[r][c]:
                    p = table[r][c] / n
                    information += p * log2(p / (p_gap[r] * p_measure[c]))
        scores.append((information / len(tables)) / (entropy / len(tables)))
    return min(scores)


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


def test_the_count_tables_of_the_competitions_own_program() -> None:
    measure, gap, grid = toy().arrays
    cond = conditioning(grid)
    p = cell_frequencies(np.array(measure), np.array(gap), cond)[cond.cells(cond.sets.index(("a", "b")))].reshape(
        4, 4, 2, 2
    )
    # Groups are (a, b) = (0, 0), (0, 1), ...: the first four cells have a = 0 in both models.
    first_four = [(p[i, j] * 4).astype(int).tolist() for i, j in product((0, 1), (0, 1))]
    assert first_four == [[[0, 1], [1, 2]], [[0, 1], [1, 2]], [[1, 2], [1, 0]], [[0, 1], [1, 2]]]


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


@given(tasks(), st.data())
def test_the_names_of_hyperparameters_do_not_matter(t: Task, data: st.DataObject) -> None:
    names = list(t.grid.names)
    new_names = dict(zip(names, data.draw(st.permutations(names)), strict=True))
    renamed = official_score(*t.with_hyperparameters_renamed(new_names).arrays)
    original = official_score(*t.arrays)
    assert renamed.score == pytest.approx(original.score, rel=0, abs=1e-12)
    for pair, value in original.pairs.items():
        first, second = sorted(new_names[name] for name in pair)
        assert renamed.pairs[first, second] == pytest.approx(value, rel=0, abs=1e-12)


@given(tasks(distinct=True))
def test_the_score_lies_between_0_and_1(t: Task) -> None:
    measure, gap, grid = t.arrays
    assert 0 <= official_score(measure, gap, grid).score <= 1 + 1e-11
    assert 1 <= official_score(gap, gap, grid).score <= 1 + 1e-11


@given(tasks())
def test_with_ties_too_up_to_the_programs_own_constant(t: Task) -> None:
    # The 1e-12 inside the logarithm weighs more, the rarer a positive sign is.
    measure, gap, grid = t.arrays
    assert 0 <= official_score(measure, gap, grid).score <= 1 + 1e-10
    assert 0 <= official_score(gap, gap, grid).score <= 1 + 1e-10


def test_equal_gaps_score_0() -> None:
    score = official_score(TOY_MEASURE, [0.1] * 8, toy().grid).score
    assert str(score) == "0.0"  # not -0.0


@pytest.mark.parametrize("sizes", [{"a": 8}, {"a": 4, "b": 2}, {"a": 4, "b": 2, "c": 1}])
def test_fewer_than_three_varying_hyperparameters_have_no_score(sizes: dict[str, int]) -> None:
    t = task(TOY_GAP, TOY_MEASURE, **sizes)
    with pytest.raises(ScoreUndefined, match=r"expected at least 3 hyperparameters that vary, found a"):
        official_score(*t.arrays)


@pytest.mark.parametrize(
    ("measure", "gap", "message"),
    [
        (TOY_MEASURE[:7], TOY_GAP, "expected the same length, found 7 and 8"),
        (TOY_MEASURE[:7], TOY_GAP[:7], r"expected one number per model \(8\), found 7"),
        (
            [*TOY_MEASURE[:7], float("nan")],
            TOY_GAP,
            "measure: expected finite numbers, found nan at position 7",
        ),
        (
            TOY_MEASURE,
            [*TOY_GAP[:7], float("-inf")],
            "gap: expected finite numbers, found -inf at position 7",
        ),
        ([TOY_MEASURE], TOY_GAP, r"measure: expected one number per model, found an array of shape \(1, 8\)"),
    ],
)
def test_wrong_numbers_are_refused(measure: list[float], gap: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        official_score(measure, gap, toy().grid)


def test_a_hyperparameter_with_one_value_conditions_on_nothing() -> None:
    """As in the program: the pair (a, d) then conditions on a alone."""
    current = {m: {**cell, "d": 0} for m, cell in cells(a=2, b=2, c=2).items()}
    grid = Grid.from_hyperparameters({"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": [0]}, current)
    result = official_score(TOY_MEASURE, TOY_GAP, grid)
    assert set(result.pairs) == set(combinations("abcd", 2))
    assert result.pairs["a", "b"] == official_score(*toy().arrays).pairs["a", "b"]
