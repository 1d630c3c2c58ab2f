"""The competition's rule for a whole submission, and what the reader is told about tasks without a score."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, TOY_MEASURE, task, toy

from scoring import RULE, Failure, TaskCalls, TaskScore, score_submission, score_task

CRASH = Failure("crashed")
LATE = Failure("time_exceeded", exceeded=True)
TOY_SCORE = 0.2954181599391297


def calls(measure: list[float] = TOY_MEASURE, **instead: float | Failure) -> TaskCalls:
    t = toy(measure)
    return TaskCalls(t.grid, t.gap, {**t.measure, **instead})


def test_the_final_score_is_100_times_the_mean() -> None:
    result = score_submission({"task1": calls(), "task2": calls(TOY_GAP)})
    assert result.score == pytest.approx(50 * (TOY_SCORE + 1), rel=0, abs=1e-9)
    assert result.tasks["task1"] == score_task(*toy().arrays)
    assert (result.complete, result.exceeded) == (True, False)


def test_a_task_with_a_failed_call_is_left_out_of_the_mean() -> None:
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


def test_nothing_to_score() -> None:
    result = score_submission({})
    assert (result.score, result.complete, result.exceeded) == (None, False, False)


@given(st.data())
def test_neither_the_order_of_tasks_nor_of_calls_matters(data: st.DataObject) -> None:
    outcomes = st.sampled_from([calls(), calls(TOY_GAP), calls(model_3=CRASH), calls(model_4=LATE)])
    tasks = data.draw(st.dictionaries(st.sampled_from("abcdef"), outcomes))
    order = data.draw(st.permutations(list(tasks)))
    models = data.draw(st.permutations(list(toy().current)))
    shuffled = {name: replace(tasks[name], values={m: tasks[name].values[m] for m in models}) for name in order}
    assert score_submission(shuffled) == score_submission(tasks)


@given(
    st.lists(st.sampled_from([TOY_MEASURE, TOY_GAP, [-g for g in TOY_GAP]]), min_size=1, max_size=4),
    st.data(),
)
def test_the_names_of_tasks_matter_only_to_what_is_skipped(measures: list[list[float]], data: st.DataObject) -> None:
    named = data.draw(st.permutations([f"task{i}" for i in range(len(measures))]))
    first = score_submission({f"task{i}": calls(measure) for i, measure in enumerate(measures)})
    second = score_submission({name: calls(m) for name, m in zip(named, measures, strict=True)})
    assert second.score == pytest.approx(first.score)


def test_numbers_of_unknown_models_and_missing_gaps_are_refused() -> None:
    good = calls()
    with pytest.raises(ValueError, match="task 'toy': value of a model that is not in the grid: model_8"):
        score_submission({"toy": replace(good, values={**good.values, "model_8": 1.0})})
    with pytest.raises(ValueError, match="task 'toy': gap of a model that is not in the grid: 0"):
        score_submission({"toy": replace(good, gap={**good.gap, "0": 1.0})})
    with pytest.raises(ValueError, match="task 'toy': no finite gap for model_0"):
        score_submission({"toy": replace(good, gap={m: g for m, g in good.gap.items() if m != "model_0"})})
    with pytest.raises(ValueError, match="task 'toy': no finite gap for model_1"):
        score_submission({"toy": replace(good, gap={**good.gap, "model_1": float("nan")})})


def test_a_task_without_an_official_score_does_not_count_for_anybody() -> None:
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


def test_the_rule_fits_on_a_board() -> None:
    assert RULE.count(". ") == 1
    assert RULE.endswith(".")
