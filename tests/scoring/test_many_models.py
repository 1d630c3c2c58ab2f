"""Tests of tasks with many models: pairs are counted fast and exactly; approximations are close to resampling."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import FEW, Task, literal_official_score, task, tasks

from scoring import Grid, compare_submissions, compare_with_chance, official_score, score_task
from scoring.batches import MOST_RESAMPLED, crossed_scores, enough_draws, official_scores
from scoring.conditioning import cell_counts, conditioning, is_larger
from scoring.group_counts import both_smaller_counts, cell_sums, pairs_in_groups, smaller_counts
from scoring.jackknife import delete_one
from scoring.paired import PairedTask
from scoring.permutations import Scorer, deals
from scoring.retrained import influences, retrained_scores
from scoring.rule import TaskCalls

SIZES = {"a": 4, "b": 4, "c": 4, "d": 3}  #: 192 models, which are few enough to be resampled


def trained(*rhos: float, decimals: int = 9) -> tuple[np.ndarray, np.ndarray, Grid]:
    """Return measures (measures, models) that correlate with the gap by `rhos`, the gap (models,), and the grid."""
    rng = np.random.default_rng(1)
    n_models = int(np.prod([*SIZES.values()]))
    grid = task([0.0] * n_models, [0.0] * n_models, **SIZES).grid
    gap = rng.normal(size=n_models) + 0.3 * grid.codes.sum(axis=1)
    noise = rng.normal(size=(len(rhos), n_models)) + 0.2 * grid.codes[:, 0]
    rho = np.array(rhos)[:, None]
    return (rho * gap + np.sqrt(1 - rho**2) * noise).round(decimals), gap.round(decimals), grid


def test_what_each_model_adds_is_what_the_score_loses_without_it() -> None:
    (measure,), gap, grid = trained(0.7)
    values, added = influences(measure, gap, conditioning(grid))
    assert values.tolist() == pytest.approx([*official_score(measure, gap, grid).pairs.values()], abs=1e-12)
    lowest, (groups, _) = added[values.argmin()], conditioning(grid).groupings[values.argmin()]
    # Without a model, its group has fewer pairs: the model's contribution counts relative to others of its group.
    lowest = lowest - (np.bincount(groups, weights=lowest) / np.bincount(groups))[groups]
    lost = values.min() - delete_one(measure, gap, conditioning(grid))
    assert np.corrcoef(lowest, lost)[0, 1] > 0.95
    assert np.std(lowest) == pytest.approx(np.std(lost), rel=0.25)


def test_the_spread_of_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    measures, gap, grid = trained(0.4, 0.7, 0.9)
    gaps, *values = (dict(zip(grid.models, numbers, strict=True)) for numbers in (gap.tolist(), *measures.tolist()))
    board = {str(number): {"task": TaskCalls(grid, gaps, one)} for number, one in enumerate(values)}
    resampled = compare_submissions(board)
    monkeypatch.setattr("scoring.retrained.MOST_RESAMPLED", 0)
    approximate = compare_submissions(board)
    for name, standing in resampled.standings.items():
        assert approximate.standings[name].error == pytest.approx(standing.error, rel=0.3)
        assert approximate.standings[name].score == standing.score
    assert approximate.errors == pytest.approx(resampled.errors, rel=0.3)
    assert (approximate.better == resampled.better).all()


@pytest.mark.parametrize("effect", [0.0, 0.1], ids=["equal gaps", "gaps that follow two hyperparameters"])
def test_gaps_that_two_hyperparameters_determine_have_intervals(monkeypatch: pytest.MonkeyPatch, effect: float) -> None:
    """All scores are 0, and so is the level of chance."""
    monkeypatch.setattr("scoring.retrained.MOST_RESAMPLED", 0)
    (measure,), _, grid = trained(0.0)
    gap = effect * (grid.codes[:, 0] + 4 * grid.codes[:, 1])
    draws = retrained_scores([PairedTask(grid, gap, np.stack([measure, gap]))])
    assert np.isfinite(draws).all()
    assert draws[:, 1] == pytest.approx(0)


def test_what_two_submissions_share_stays_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.retrained.MOST_RESAMPLED", 0)
    (one, other), gap, grid = trained(0.7, 0.7)
    draws = retrained_scores([PairedTask(grid, gap, np.stack([one, one**3, one + 0.01 * other, other]))])
    assert (draws[:, 0] == draws[:, 1]).all()
    apart = [np.std(draws[:, 0] - draws[:, column]) for column in (2, 3)]
    assert apart[0] < 0.3 * apart[1]


@pytest.mark.parametrize("decimals", [9, 0])
def test_scores_under_chance(monkeypatch: pytest.MonkeyPatch, decimals: int) -> None:
    """Values are permuted within groups of each pair of hyperparameters; approximate and exact scores are compared."""
    (measure,), gap, grid = trained(0.0, decimals=decimals)
    monkeypatch.setattr("scoring.chance.MOST_RESAMPLED", 0)
    found = compare_with_chance(measure, gap, grid, n_permutations=300)
    for pair, dealt in found.dealt.items():
        scorer, random = Scorer(gap, conditioning(grid, pair)), np.random.default_rng(3)
        orders = deals(measure, grid.group_numbers(pair), 300, random)
        exact = np.concatenate([*map(scorer, orders)])
        assert dealt.mean() == pytest.approx(exact.mean(), rel=0.1)
        assert np.quantile(dealt, 0.95) == pytest.approx(np.quantile(exact, 0.95), rel=0.15)


def test_measures_that_are_alike_are_dealt_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    (measure, other), gap, grid = trained(0.0, 0.0)
    monkeypatch.setattr("scoring.chance.MOST_RESAMPLED", 0)
    dealt = [
        np.concatenate([*compare_with_chance(values, gap, grid, 200).dealt.values()])
        for values in (measure, np.exp(measure), other)
    ]
    assert (dealt[0] == dealt[1]).all()
    assert abs(np.corrcoef(dealt[0][:200], dealt[2][:200])[0, 1]) < 0.3


def test_draws() -> None:
    assert enough_draws(400, MOST_RESAMPLED) == 400
    assert enough_draws(400, 10 * MOST_RESAMPLED) == 40
    assert enough_draws(400, 10**6) == 10
    assert enough_draws(5, 10**6) == 5


def sorted_always(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("scoring.group_counts.MOST_COMPARED", 0)


@FEW
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
    """Counts are computed in several blocks, and the last block is not full; with and without ties."""
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


@FEW
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
    more = np.array([*gaps[:3], gap])  # every row with every column
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scoring.batches.CHUNK", 2 * len(gap) ** 2)
        found = crossed_scores(measures[:5], more, conditioning(grid))
    assert found.tolist() == [[official_score(row, column, grid).score for column in more] for row in measures[:5]]


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    gap, measure = np.random.default_rng(0).normal(size=(2, 24))
    cond = conditioning(task(gap.tolist(), measure.tolist(), a=2, b=3, c=4).grid)
    measures = np.stack([measure, gap, -gap])
    at_once = delete_one(measure, gap, cond), official_scores(measures, gap[None], cond)
    monkeypatch.setattr("scoring.jackknife.CHUNK", 7 * cond.first.size)
    monkeypatch.setattr("scoring.batches.CHUNK", 2 * gap.size**2)  # two rows, and then one
    assert (delete_one(measure, gap, cond) == at_once[0]).all()
    assert (official_scores(measures, gap[None], cond) == at_once[1]).all()


@FEW
@given(tasks())
def test_the_score_without_one_model(t: Task) -> None:
    measure, gap, grid = t.arrays
    without = delete_one(np.array(measure), np.array(gap), conditioning(grid))
    for left_out, score in zip(grid.models, without, strict=True):
        rest = t.with_models_in_order([model for model in grid.models if model != left_out])
        assert score == pytest.approx(literal_official_score(rest), rel=0, abs=1e-10)
