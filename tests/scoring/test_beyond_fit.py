"""Which submissions tell more than an additive fit of the gaps by all hyperparameters."""

import math

import numpy as np
import pytest
from scoring_examples import task

from scoring import Failure, Grid, ScoreUndefined, TaskCalls, additive_fit, compare_submissions

GRID = task([0.0] * 32, [0.0] * 32, a=2, b=2, c=2, d=2, e=2).grid
NOISE = np.random.default_rng(2).normal(size=32)
GAP = GRID.codes @ [0.3, 0.2, 0.1, 0.3, 0.2] + 0.5 * np.random.default_rng(1).normal(size=32)


def calls(values: object, gap: object = GAP, grid: Grid = GRID) -> TaskCalls:
    named = [dict(zip(grid.models, np.asarray(one).tolist(), strict=True)) for one in (gap, values)]
    return TaskCalls(grid, *named)


def answers(**measures: object) -> dict[str, bool]:
    return beyond({name: {"task": calls(values)} for name, values in measures.items()})


def beyond(submissions: dict[str, dict[str, TaskCalls]]) -> dict[str, bool]:
    standings = compare_submissions(submissions).standings
    return {name: standing.beyond_hyperparameters for name, standing in standings.items()}


def test_the_gap_is_beyond_the_fit_and_the_fit_is_not() -> None:
    """In either direction: information has no sign."""
    fit = additive_fit(GAP, GRID)
    found = answers(gap=GAP, fit=fit, likewise=np.exp(fit), noise=NOISE, against=-GAP, constant=np.ones(32))
    assert {name for name, beyond in found.items() if beyond} == {"gap", "against"}


def test_a_small_lead_is_not_enough() -> None:
    """The fit with a few networks in the order of their gaps scores more, but that may be luck."""
    fit = additive_fit(GAP, GRID)
    slightly = np.where(np.arange(32) < 4, GAP, fit)
    assert answers(slightly=slightly) == {"slightly": False}


def test_the_answer_is_of_the_measure_alone() -> None:
    together = answers(noise=NOISE, gap=GAP, mixed=GAP + 0.05 * NOISE)
    for name, values in {"noise": NOISE, "gap": GAP, "mixed": GAP + 0.05 * NOISE}.items():
        assert answers(one=values)["one"] == answers(one=np.exp(values))["one"] == together[name]


def test_all_tasks_count_together() -> None:
    """What leads on one task and falls behind on the other is not beyond."""
    good = GAP + 0.5 * NOISE
    half = {"task": calls(good), "other": calls(np.ones(32))}
    whole = {"task": calls(good), "other": calls(good)}
    assert beyond({"half": half, "whole": whole}) == {"half": False, "whole": True}


def test_unfinished_submissions_have_no_answer() -> None:
    late = calls(GAP)
    values = {**late.values, GRID.models[0]: Failure("TIMEOUT", exceeded=True)}
    found = beyond({
        "late": {"task": TaskCalls(GRID, late.gap, values)},
        "endless": {"task": calls([math.inf, *GAP[1:]])},
        "gap": {"task": calls(GAP)},
    })  # fmt: skip
    assert found == {"gap": True}
    with pytest.raises(ScoreUndefined):
        beyond({})
