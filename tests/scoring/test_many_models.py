"""Tasks of many models: first-order approximations are close to what resampling gives."""

import numpy as np
import pytest
from scoring_examples import task

from scoring import Grid, compare_submissions, compare_with_chance, official_score
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one
from scoring.linear import influences
from scoring.many_models import MOST_RESAMPLED, enough_draws
from scoring.paired import PairedTask
from scoring.permutations import Scorer, deals
from scoring.retrained import retrained_scores
from scoring.rule import TaskCalls

SIZES = {"a": 4, "b": 4, "c": 4, "d": 3}  #: 192 models, which are few enough to be resampled


def trained(*rhos: float, decimals: int = 9) -> tuple[np.ndarray, np.ndarray, Grid]:
    """Measures that correlate with the gap, the gap, and the grid; everything depends on the hyperparameters, too."""
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
    # Without a model, its group has fewer pairs: what counts is how much more than others of the group it adds.
    lowest = lowest - (np.bincount(groups, weights=lowest) / np.bincount(groups))[groups]
    lost = values.min() - delete_one(measure, gap, conditioning(grid))
    assert np.corrcoef(lowest, lost)[0, 1] > 0.95
    assert np.std(lowest) == pytest.approx(np.std(lost), rel=0.25)


def test_the_spread_of_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    measures, gap, grid = trained(0.4, 0.7, 0.9)
    calls = [
        {
            "task": TaskCalls(
                grid, dict(zip(grid.models, gap.tolist(), strict=True)), dict(zip(grid.models, values, strict=True))
            )
        }
        for values in measures.tolist()
    ]
    board = {str(number): one for number, one in enumerate(calls)}
    resampled = compare_submissions(board)
    monkeypatch.setattr("scoring.retrained.MOST_RESAMPLED", 0)
    approximate = compare_submissions(board)
    for name, standing in resampled.standings.items():
        assert approximate.standings[name].error == pytest.approx(standing.error, rel=0.3)
        assert approximate.standings[name].score == standing.score
    assert approximate.errors == pytest.approx(resampled.errors, rel=0.3)
    assert (approximate.better == resampled.better).all()


def test_what_two_submissions_share_stays_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.retrained.MOST_RESAMPLED", 0)
    (one, other), gap, grid = trained(0.7, 0.7)
    draws = retrained_scores([PairedTask(grid, gap, np.stack([one, one**3, one + 0.01 * other, other]))])
    assert (draws[:, 0] == draws[:, 1]).all()
    apart = [np.std(draws[:, 0] - draws[:, column]) for column in (2, 3)]
    assert apart[0] < 0.3 * apart[1]


@pytest.mark.parametrize("decimals", [9, 0])
def test_scores_under_chance(monkeypatch: pytest.MonkeyPatch, decimals: int) -> None:
    """Values are dealt out alike; a value given a pair is at least the lowest over all pairs, which is the score."""
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
