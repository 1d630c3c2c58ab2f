"""Quick ways to count pairs of models: each gives what the score of one measure gives, to the last digit."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import Task, task, tasks
from test_official_score import literal_official_score

from scoring import official_score
from scoring.batches import crossed_scores, official_scores
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one
from scoring.merge_counts import both_larger_counts, larger_counts
from scoring.pair_counts import cell_counts, is_larger


@given(tasks())
def test_merging_counts_what_comparing_all_pairs_counts(t: Task) -> None:
    measure, gap, grid = (*map(np.array, t.arrays[:2]), t.grid)
    cond = conditioning(grid)
    gap_plus, measure_plus = is_larger(gap), is_larger(measure)
    assert (larger_counts(gap, cond) == cell_counts(gap_plus, cond)).all()
    assert (both_larger_counts(gap, measure, cond) == cell_counts(gap_plus & measure_plus, cond)).all()


def test_the_score_of_many_models_is_the_same_by_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    gap, measure = rng.normal(size=(2, 216)).round(1)
    t = task(gap.tolist(), measure.tolist(), a=6, b=6, c=6)
    by_pairs = official_score(*t.arrays)
    monkeypatch.setattr("scoring.official.MOST_MODELS_PAIRWISE", 0)
    assert official_score(*t.arrays) == by_pairs


@given(tasks(), st.integers(1, 40))
def test_a_batch_scores_every_row_as_if_it_were_alone(t: Task, n_rows: int) -> None:
    measure, gap, grid = t.arrays
    rng = np.random.default_rng(n_rows)
    measures = np.array([rng.permutation(measure) for _ in range(n_rows)])
    gaps = np.array([rng.permutation(gap) for _ in range(n_rows)])
    one_gap, one_measure = np.array([gap]), np.array([measure])
    for rows, columns in ((measures, one_gap), (one_measure, gaps), (measures, gaps)):
        found = official_scores(rows, columns, conditioning(grid))
        pairs = zip(*np.broadcast_arrays(rows, columns), strict=True)
        assert found.tolist() == [official_score(row, column, grid).score for row, column in pairs]


def test_a_batch_that_does_not_fit_into_one_chunk() -> None:
    rng = np.random.default_rng(0)
    gap, measure = rng.normal(size=(2, 64))
    t = task(gap.tolist(), measure.tolist(), a=4, b=4, c=4)
    measures = rng.normal(size=(300, 64))
    found = official_scores(measures, gap[None], conditioning(t.grid))
    assert found.tolist() == [official_score(row, gap, t.grid).score for row in measures]


@given(tasks(), st.integers(1, 5))
def test_each_measure_with_each_gap_as_if_it_were_alone(t: Task, n_rows: int) -> None:
    measure, gap, grid = t.arrays
    rng = np.random.default_rng(n_rows)
    measures = np.array([rng.permutation(measure) for _ in range(n_rows)])
    gaps = np.array([rng.permutation(gap) for _ in range(n_rows + 1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scoring.batches.CHUNK", 2 * len(gap) ** 2)
        found = crossed_scores(measures, gaps, conditioning(grid))
    assert found.tolist() == [[official_score(row, column, grid).score for column in gaps] for row in measures]


@given(tasks())
def test_the_score_without_one_model(t: Task) -> None:
    measure, gap, grid = t.arrays
    without = delete_one(np.array(measure), np.array(gap), conditioning(grid))
    for left_out, score in zip(grid.models, without, strict=True):
        rest = t.with_models_in_order([model for model in grid.models if model != left_out])
        assert score == pytest.approx(literal_official_score(rest), rel=0, abs=1e-10)


def test_deletions_that_do_not_fit_into_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    gap, measure = np.random.default_rng(0).normal(size=(2, 24))
    cond = conditioning(task(gap.tolist(), measure.tolist(), a=2, b=3, c=4).grid)
    at_once = delete_one(measure, gap, cond)
    monkeypatch.setattr("scoring.jackknife.CHUNK", 7 * cond.first.size)
    assert (delete_one(measure, gap, cond) == at_once).all()
