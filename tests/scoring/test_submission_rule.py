"""Tests of the package `scoring`, of all scores of a task, and of the competition's rule for a whole submission: its
place, the Pareto front, the spread over seeds.
"""

import math
import subprocess
import sys
from dataclasses import is_dataclass, replace
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scoring_examples import FEW, TOY_GAP, TOY_MEASURE, task, toy

import scoring
from scoring import (
    Entry,
    Failure,
    Grid,
    ScoreUndefined,
    TaskCalls,
    TaskScore,
    granulated_kendall,
    kendall_tau,
    measure_stability,
    noisy_oracle,
    official_score,
    pareto_front,
    printed_score,
    rank,
    score_submission,
    score_task,
)

CRASH = Failure("crashed")
LATE = Failure("time_exceeded", exceeded=True)
TOY_SCORE = 0.2954181599391297


def calls(measure: list[float] = TOY_MEASURE, **instead: float | Failure) -> TaskCalls:
    t = toy(measure)
    return TaskCalls(t.grid, t.gap, {**t.measure, **instead})


def test_the_final_score_is_100_times_the_mean_without_tasks_that_failed() -> None:
    result = score_submission({"task1": calls(), "task2": calls(TOY_GAP)})
    assert result.score == pytest.approx(50 * (TOY_SCORE + 1), rel=0, abs=1e-9)
    assert result.tasks["task1"] == score_task(*toy().arrays)
    assert (result.complete, result.exceeded) == (True, False)
    result = score_submission({"task1": calls(), "task2": calls(TOY_GAP, model_3=CRASH)})
    assert result.score == pytest.approx(100 * TOY_SCORE)
    assert result.tasks["task2"] == "1 of 8 calls gave no value (model_3: crashed)"
    assert (result.complete, result.exceeded) == (False, False)


def test_a_missing_call_and_a_value_that_is_not_finite_are_failed_calls() -> None:
    t = calls(model_0=float("nan"), model_1=float("inf"), model_2=CRASH)
    values = {model: value for model, value in t.values.items() if model != "model_7"}
    result = score_submission({"task1": replace(t, values=values)})
    expected = "4 of 8 calls gave no value (model_0: value nan, model_1: value inf, model_2: crashed, ...)"
    assert result.tasks == {"task1": expected}
    assert (result.score, result.complete) == (None, False)
    assert vars(score_submission({})) == {"score": None, "tasks": {}, "complete": True, "exceeded": False}


def test_a_call_over_its_time_budget_makes_the_score_0_and_skips_all_later_tasks() -> None:
    failed = calls(model_2=CRASH)
    late = calls(model_5=LATE, model_6=CRASH)
    result = score_submission({"task4": failed, "task3": calls(), "task2": late, "task1": calls()})
    assert (result.score, result.complete, result.exceeded) == (0, False, True)
    assert list(result.tasks) == ["task1", "task2", "task3", "task4"]
    assert isinstance(result.tasks["task1"], TaskScore)
    assert list(result.tasks.values())[1:] == [
        "over the time budget: 1 of 8 calls gave no value (model_5: time_exceeded)",
        "skipped: over the time budget in task task2",
        "skipped: over the time budget in task task2",
    ]


@FEW
@given(st.data())
def test_neither_the_order_of_tasks_nor_of_calls_matters(data: st.DataObject) -> None:
    outcomes = st.sampled_from([calls(), calls(TOY_GAP), calls(model_3=CRASH), calls(model_4=LATE)])
    tasks = data.draw(st.dictionaries(st.sampled_from("abcdef"), outcomes))
    order = data.draw(st.permutations(list(tasks)))
    models = data.draw(st.permutations(list(toy().current)))
    shuffled = {name: replace(tasks[name], values={m: tasks[name].values[m] for m in models}) for name in order}
    assert score_submission(shuffled) == score_submission(tasks)


@pytest.mark.parametrize(
    ("gap", "values", "problem"),
    [
        ({}, {"model_8": 1.0}, "value of a model that is not in the grid: model_8"),
        ({"0": 1.0}, {}, "gap of a model that is not in the grid: 0"),
        ({"model_1": math.nan}, {}, "no finite gap for model_1"),
    ],
)
def test_numbers_of_unknown_models_and_missing_gaps_are_refused(
    gap: dict[str, float], values: dict[str, float], problem: str
) -> None:
    good = calls()
    with pytest.raises(ValueError, match=f"task 'toy': {problem}"):
        score_submission({"toy": replace(good, gap={**good.gap, **gap}, values={**good.values, **values})})
    with pytest.raises(ValueError, match="task 'toy': no finite gap for model_0"):
        score_submission({"toy": replace(good, gap={m: g for m, g in good.gap.items() if m != "model_0"})})


def test_a_task_without_an_official_score_does_not_count_for_anybody_whoever_failed_there() -> None:
    t = task(TOY_GAP, TOY_GAP, a=4, b=2)
    flat = TaskCalls(t.grid, t.gap, t.measure)
    result = score_submission({"flat": flat, "task1": calls()})
    assert result.score == pytest.approx(100 * TOY_SCORE)
    assert result.complete
    on_flat = result.tasks["flat"]
    assert isinstance(on_flat, TaskScore)
    assert on_flat.undefined == "official score: expected at least 3 hyperparameters that vary, found a, b"
    assert (on_flat.official, on_flat.kendall, on_flat.granulated_kendall) == (None, 1, 1)
    alone = score_submission({"flat": flat})
    assert (alone.score, alone.complete) == (None, True)
    for outcome in (CRASH, LATE, math.nan):
        failed = replace(flat, values=dict.fromkeys(t.measure, outcome))
        for without in (failed, replace(failed, values={})):
            found = score_submission({"flat": without, "task1": calls()})
            assert isinstance(found.tasks["flat"], str)
            assert (found.score, found.complete, found.exceeded) == (result.score, True, False)


scores = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, 20.0, 50.0, 50.0, 100.0]))
entries = st.builds(Entry, st.text("abc", max_size=3), scores, complete=st.booleans(), eligible=st.booleans())
boards = st.lists(entries, max_size=8, unique_by=lambda entry: entry.name)


def beats(first: Entry, second: Entry) -> bool:
    """Return whether the first entry beats the second by the rule in words; both must be eligible for a rank."""
    one, other = (-math.inf if e.score is None or not math.isfinite(e.score) else e.score for e in (first, second))
    return one > other if -math.inf in (one, other) or first.complete == second.complete else first.complete


def test_a_board() -> None:
    board = [
        Entry("unsafe", 99.0, complete=True, eligible=False), Entry("nothing", None, complete=False),
        Entry("partial", 80.0, complete=False), Entry("zero", 0.0, complete=True),
        Entry("second", 20.0, complete=True), Entry("also second", 20.0, complete=True),
        Entry("best", 30.0, complete=True), Entry("broken", float("nan"), complete=True),
    ]  # fmt: skip
    assert [(ranked.entry.name, ranked.rank) for ranked in rank(board)] == [
        ("best", 1), ("also second", 2), ("second", 2), ("zero", 4), ("partial", 5), ("broken", 6), ("nothing", 6),
        ("unsafe", None),
    ]  # fmt: skip


@given(boards, st.data())
def test_a_rank_is_one_more_than_the_number_of_better_entries_and_who_has_none_comes_last(
    board: list[Entry], data: st.DataObject
) -> None:
    ordered, eligible = rank(board), [entry for entry in board if entry.eligible]
    assert sorted(ranked.entry.name for ranked in ordered) == sorted(entry.name for entry in board)
    assert rank(data.draw(st.permutations(board))) == ordered
    for ranked in ordered:
        better = sum(beats(other, ranked.entry) for other in eligible)
        assert ranked.rank == (1 + better if ranked.entry.eligible else None)
    for above, below in pairwise(ordered):
        assert above.entry.eligible or not below.entry.eligible
        assert above.rank is None or below.rank is None or above.rank <= below.rank


@pytest.mark.parametrize(
    ("costs", "scores", "front"),
    [
        ([1, 2, 3, 4], [10, 30, 20, 40], [True, True, False, True]),
        ([1, 1, 2], [5, 5, 5], [True, True, False]),  # equal rows both stay
        ([1, 2], [None, 5], [False, True]),
        ([1, 2], [math.nan, None], [False, False]),
        ([3], [0], [True]),
        ([], [], []),
    ],
)
def test_the_pareto_front(costs: list[float], scores: list[float | None], front: list[bool]) -> None:
    assert pareto_front(costs, scores) == front


def test_costs_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="expected the same length, found 2 and 1"):
        pareto_front([1, 2], [1])
    with pytest.raises(ValueError, match="costs: expected finite numbers"):
        pareto_front([math.inf], [1])


NOISY_GAP = np.random.default_rng(0).normal(size=32)
NOISY_GRID: Grid = task(NOISY_GAP.tolist(), NOISY_GAP.tolist(), a=2, b=2, c=2, d=2, e=2).grid


def called(n_values: int, seed: int = 1, noise: float = 0.5) -> tuple[np.ndarray, dict[str, list[float]]]:
    """Return a noisy measure's values on all models, and model -> its `n_values` - 1 values with other seeds."""
    values = NOISY_GAP + noise * np.random.default_rng(seed).normal(size=(n_values, 32))
    return values[0], {model: values[1:, i].tolist() for i, model in enumerate(NOISY_GRID.models)}


def test_a_measure_without_randomness_is_steady() -> None:
    measure = np.arange(32.0)
    found = measure_stability(measure, NOISY_GAP, NOISY_GRID, {"model_0": [0.0, 0.0], "model_1": [1.0, 1.0]})
    assert (found.n_repeated, found.n_unsteady) == (2, 0)
    assert found.error == pytest.approx(0, abs=1e-12)
    assert found.score == official_score(measure, NOISY_GAP, NOISY_GRID).score


def test_repeats_of_all_models_or_some_estimate_the_true_spread() -> None:
    scores = [official_score(called(1, seed)[0], NOISY_GAP, NOISY_GRID).score for seed in range(100, 400)]
    all_of_them, half = [], []
    for seed in range(20):
        measure, repeats = called(4, seed)
        all_of_them.append(measure_stability(measure, NOISY_GAP, NOISY_GRID, repeats).error)
        chosen = np.random.default_rng(seed).choice(NOISY_GRID.models, 16, replace=False)
        half.append(
            measure_stability(measure, NOISY_GAP, NOISY_GRID, {model: repeats[model] for model in chosen}).error
        )
    assert np.mean(all_of_them) == pytest.approx(np.std(scores), rel=0.3)
    assert np.mean(half) == pytest.approx(np.std(scores), rel=0.3)


def test_unsteady_models_are_counted_where_there_is_a_score() -> None:
    found = measure_stability(TOY_MEASURE, TOY_GAP, toy().grid, {"model_0": [9.0], "model_1": [1.0]})
    assert (found.n_repeated, found.n_unsteady) == (2, 1)
    with pytest.raises(ScoreUndefined, match="expected at least 3 hyperparameters that vary"):
        measure_stability(*task(TOY_GAP, TOY_MEASURE, a=4, b=2).arrays, {"model_0": [1.0]})


@pytest.mark.parametrize(
    ("repeats", "message"),
    [
        ({}, "repeats: expected at least one model, found none"),
        ({"model_9": [1.0]}, "repeats: expected models of the grid, found model_9"),
        ({"model_0": [1.0], "model_1": [1.0, 2.0]}, "same number of values for each model, at least one, found 1, 2"),
        ({"model_0": []}, "same number of values for each model, at least one, found 0"),
        ({"model_0": [float("nan")]}, "repeats: expected finite numbers"),
    ],
)
def test_wrong_repeats_are_refused(repeats: dict[str, list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure_stability(TOY_MEASURE, TOY_GAP, toy().grid, repeats)


def test_what_is_public_exists_and_never_changes() -> None:
    assert all(hasattr(scoring, name) for name in scoring.__all__)
    found = [kind for kind in vars(scoring).values() if isinstance(kind, type) and is_dataclass(kind)]
    assert len(found) > 20
    assert [kind.__name__ for kind in found if not kind.__dataclass_params__.frozen] == []


def test_importing_it_brings_in_nothing_heavy() -> None:
    heavy = ("scipy", "tensorflow", "keras", "harness")
    program = f"import sys, scoring; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_task_score_holds_every_score_and_its_parts() -> None:
    measure, gap, grid = toy().arrays
    result = score_task(measure, gap, grid)
    assert result.n_models == 8
    assert (result.official, result.official_pairs) == tuple(vars(official_score(measure, gap, grid)).values())
    assert (result.printed, result.printed_subsets) == tuple(vars(printed_score(measure, gap, grid)).values())
    assert result.kendall == kendall_tau(measure, gap)
    assert result.granulated_kendall == granulated_kendall(measure, gap, grid).score
    assert result.granulated_psi == granulated_kendall(measure, gap, grid).psi


def test_what_is_not_defined_on_a_grid_is_none_and_says_why() -> None:
    holed = toy().with_models_in_order([f"model_{number}" for number in range(7)])
    score = score_task(*holed.arrays)
    assert "found no model in cell (a=1, b=1, c=1) (8 cells, 7 models)" in score.undefined
    assert (score.official, score.printed, score.printed_subsets) == (None, None, {})
    assert score.kendall == kendall_tau(*holed.arrays[:2])
    assert score.granulated_kendall == granulated_kendall(*holed.arrays).score
    single = score_task(*task([1.0], [1.0], a=1).arrays)
    assert (single.official, single.printed, single.kendall, single.granulated_kendall) == (None,) * 4


def test_noisy_oracle() -> None:
    gap = np.linspace(0, 0.5, 10_000)
    noise = noisy_oracle(gap) - gap
    assert abs(noise.mean()) < 4 * 0.02 / 100
    assert noise.std() == pytest.approx(0.02, rel=0.05)
    assert (noisy_oracle(gap) == noisy_oracle(gap, noise=0.02, seed=0)).all()
    assert (noisy_oracle(gap, seed=1) != noisy_oracle(gap, seed=0)).all()
    assert (noisy_oracle(gap, noise=0.0) == gap).all()
    with pytest.raises(ValueError, match="scale < 0"):
        noisy_oracle(gap, noise=-0.1)
