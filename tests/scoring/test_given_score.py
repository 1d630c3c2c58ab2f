"""The official information where only some hyperparameters are conditioned on, and cells may be empty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import task, toy

from scoring import Grid, ScoreUndefined, given_score, official_score


def rows(n_levels: int, *, missing: tuple[int, ...] = ()) -> tuple[Grid, list[int]]:
    """A grid of a, b and the level of augmentation, without some models; and the models that are left."""
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


def test_the_minimum_is_over_the_named_pairs_only() -> None:
    numbers = toy().arrays
    assert given_score(*numbers, names=["c", "b"]).pairs == {("b", "c"): official_score(*numbers).pairs["b", "c"]}


def test_models_that_differ_in_what_is_not_named_are_compared() -> None:
    """Three levels in each of four groups: the gap itself tells everything, and noise little."""
    grid, kept = rows(3)
    gap = np.random.default_rng(0).permutation(len(kept)).astype(float)
    assert given_score(gap, gap, grid, ["a", "b"]).score == pytest.approx(1)
    assert given_score(np.zeros(len(kept)), gap, grid, ["a", "b"]).score == 0


def test_missing_models_leave_the_other_cells_as_they_are() -> None:
    """By hand: without one group, its cells add nothing to either sum."""
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


def test_what_cannot_be_scored_is_refused() -> None:
    measure, gap, grid = toy().arrays
    with pytest.raises(ScoreUndefined, match="at least 2 hyperparameters"):
        given_score(measure, gap, grid, ["a"])
    with pytest.raises(ScoreUndefined, match=r"^given a and b, no group has two models with different gaps"):
        given_score(measure, [0.1] * 8, grid, ["a", "b"])
    with pytest.raises(ValueError, match="found width"):
        given_score(measure, gap, grid, ["a", "width"])
