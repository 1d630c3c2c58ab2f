"""Quick ways to count pairs of models: each gives what the score of one measure gives, to the last digit."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import Task, task, tasks
from test_official_score import literal_official_score

from scoring import official_score, score_task
from scoring.batches import crossed_scores, official_scores
from scoring.conditioning import conditioning
from scoring.group_counts import both_smaller_counts, cell_sums, pairs_in_groups, smaller_counts
from scoring.jackknife import delete_one
from scoring.pair_counts import cell_counts, is_larger


def sorted_always(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("scoring.group_counts.MOST_COMPARED", 0)


@given(tasks())
def test_sorting_counts_what_comparing_all_pairs_counts(t: Task) -> None:
    measure, gap, grid = (*map(np.array, t.arrays[:2]), t.grid)
    cond = conditioning(grid)
    gap_plus, measure_plus = is_larger(gap), is_larger(measure)
    of_gap, of_both = cell_counts(gap_plus, cond), cell_counts(gap_plus & measure_plus, cond)
    with pytest.MonkeyPatch.context() as patch:
        sorted_always(patch)
        for number, groups in enumerate(cond.groupings):
            both = both_smaller_counts(gap, measure, *groups)
            assert (cell_sums(both, *groups).ravel() == of_both[cond.cells(number)]).all()
            assert (cell_sums(smaller_counts(gap, *groups), *groups).ravel() == of_gap[cond.cells(number)]).all()
            pairs = pairs_in_groups(gap, measure, groups[0])
            own = groups[0][:, None] == groups[0]
            for found, expected in (
                (pairs.alike, gap_plus & measure_plus),
                (pairs.opposite, gap_plus & measure_plus.T),
                (pairs.gap_differs, gap_plus),
                (pairs.measure_differs, measure_plus),
            ):
                assert (found == np.bincount(groups[0], weights=(expected & own).sum(axis=1))).all()


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_counts_of_each_of_many_models(decimals: int) -> None:
    """More than one block, the last one not full, and many ties or none."""
    rng = np.random.default_rng(decimals)
    gap, measure = rng.normal(size=(2, 999)).round(decimals)
    groups = rng.integers(0, 7, size=gap.size)
    smaller = (gap[:, None] > gap) & (measure[:, None] > measure)
    expected = smaller @ (groups[:, None] == np.arange(7)).astype(np.float32)
    assert (both_smaller_counts(gap, measure, groups, 7) == expected).all()


def test_the_scores_of_many_models_are_the_same_by_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    gap, measure = rng.normal(size=(2, 216)).round(1)
    t = task(gap.tolist(), measure.tolist(), a=6, b=6, c=6)
    by_pairs = score_task(*t.arrays)
    monkeypatch.setattr("scoring.official.MOST_MODELS_PAIRWISE", 0)
    sorted_always(monkeypatch)
    assert score_task(*t.arrays) == by_pairs


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
