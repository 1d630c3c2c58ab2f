"""Tests of repetitions on a board: they show the measure's own randomness in a score, and never change the score."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from board_examples import MEASURE, MODELS, OFFICIAL, Known, by_name, collect, failed, in_json, references, rows

from harness.board.collect import Calls, Collected
from harness.board.leaderboard import build_board, score_calls
from harness.board.repetitions import describe, not_deterministic, own_randomness, own_randomness_object, remarks_on
from harness.outcome import Outcome
from harness.records import Evaluation
from harness.task.contents import Contents
from scoring import measure_stability
from tests.records.evaluation_rows import request

#: Values of other seeds.
SECOND = [3.5, 2.0, 0.5, 1.0, 5.0, 7.0, 2.0, 8.0]
THIRD = [2.5, 5.0, 3.0, 1.0, 6.0, 9.0, 1.0, 4.0]


def repeated(task: str = "toy", *others: Sequence[float]) -> list[Evaluation]:
    """Records of a submission's calls on a task, and of their repetitions: `others` has each repetition's values."""
    repeats = [rows("mine", values, task, repeat=n) for n, values in enumerate(others or (SECOND, THIRD), 1)]
    return [*rows("mine", task=task), *(row for rows in repeats for row in rows)]


def ended(outcome: Outcome, *models: str, repeat: int = 2) -> list[Evaluation]:
    return [failed("mine", model, outcome, repeat=repeat) for model in models]


def only(evaluations: list[Evaluation], known: Known, *, deterministic: bool = False) -> Calls:
    asked = [request(evaluations[0], task="toy", deterministic=deterministic)]
    (calls,) = collect(evaluations, known, asked).shown
    return calls


def score_of(evaluations: list[Evaluation], known: Known) -> float | None:
    return score_calls(only(evaluations, known), {"toy": known["toy"]}).score


def own(evaluations: list[Evaluation], known: Known, withheld: Sequence[str] = ()) -> Any:
    calls = only(evaluations, known)
    return own_randomness(calls, score_calls(calls, known), known, withheld)


def expected(known: Known, *others: Sequence[float], models: Sequence[str] = MODELS) -> float:
    """Return the error of the official score, by the function that docs/statistics.md explains."""
    repeats = {model: [values[MODELS.index(model)] for values in others or (SECOND, THIRD)] for model in models}
    reference = known["toy"]
    return 100 * measure_stability(MEASURE, list(reference.gaps.values()), reference.grid, repeats).error


def test_repetitions_never_count_in_a_score(known: Known) -> None:
    """The values of repetitions are sorted by number. If a number has several records, the newest record counts."""
    records = [*rows("mine", THIRD, repeat=2), *rows("mine", SECOND, repeat=1), *rows("mine")]
    calls = only([*records, *rows("mine", {"model_0": 9.5}, repeat=1)], known)
    assert calls.on("toy", known["toy"]).values == dict(zip(MODELS, MEASURE, strict=True))
    assert score_of(records, known) == pytest.approx(100 * OFFICIAL)
    assert (calls.repeats["toy", "model_0"], calls.repeats["toy", "model_2"]) == ([9.5, 2.5], [0.5, 3.0])
    without = [*rows("mine", MEASURE[:7]), *rows("mine", SECOND, repeat=1)]
    score = score_calls(only(without, known), {"toy": known["toy"]})
    assert score.tasks["toy"] == "1 of 8 calls gave no value (model_7: missing)"
    assert own(without, known) is None


@pytest.mark.parametrize(
    "columns", [{"model_digest": "old"}, {"data_digest": "old"}, {"submission_digest": "old"}, {"run_seed": 1}]
)
def test_repetitions_of_other_models_data_versions_and_configurations_do_not_count(
    columns: dict[str, Any], known: Known
) -> None:
    contents = {"toy": Contents(dict.fromkeys(MODELS, "m0"), "t0")}
    records = [*rows("mine", SECOND, repeat=1, **columns), *rows("mine")]
    (calls,) = (one for one in collect(records, known, contents=contents, everything=True).shown if one.rows)
    assert (calls.repeats, calls.stale) == ({}, frozenset())


def test_the_error_of_a_task_and_of_the_final_score(known: Known) -> None:
    found = own([*repeated(), *repeated("second", SECOND, MEASURE)], known)
    toy, second = expected(known), expected(known, SECOND, MEASURE)
    assert [100 * found.tasks[task].error for task in ("toy", "second")] == pytest.approx([toy, second])
    assert found.error == pytest.approx(math.sqrt(toy**2 + second**2) / 2)
    assert describe(found) == [
        f"second: own randomness: ±{second:.1f} points; 5 of 8 models called again gave another value",
        f"toy: own randomness: ±{toy:.1f} points; 7 of 8 models called again gave another value",
        f"final score: own randomness: ±{found.error:.1f} points",
    ]


def test_the_final_score_has_none_if_a_scored_task_lacks_repetitions(known: Known, tmp_path: Path) -> None:
    found = own([*repeated(), *rows("mine", task="second")], known)
    assert (set(found.tasks), found.error) == ({"toy"}, None)
    unscored = own([*repeated(), failed("mine", "model_0", Outcome.CRASH, "second")], known)
    assert unscored.error == pytest.approx(expected(known)), "a task without a score is not in the mean"
    exceeded = own([*repeated(), failed("mine", "model_0", Outcome.TIMEOUT, "second")], known)
    assert exceeded.error is None, "the score is 0 whatever the seed"
    assert own(rows("mine"), known) is own_randomness_object(None) is None
    assert own(repeated(), references(tmp_path, sizes=(4, 2))) is None, "a grid without an official score"


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (ended(Outcome.CRASH, "model_3"), "1 CRASH, on model_3"),
        (ended(Outcome.CRASH, "model_0") + ended(Outcome.TIMEOUT, "model_0", "model_1", repeat=1),
         "2 TIMEOUT, 1 CRASH, on model_0, model_1"),
        (ended(Outcome.TIMEOUT, *MODELS), "8 TIMEOUT, on model_0, model_1, model_2 and 5 more"),
    ],
)  # fmt: skip
def test_failed_repetitions_are_counted_and_change_no_score(others: list[Evaluation], told: str, known: Known) -> None:
    """A failure is not another value, so it does not contradict a claim of determinism."""
    records = [*rows("mine"), *others]
    remark = f"mine on toy: failed repetitions, which affect no score: {told}"
    assert remarks_on([only(records, known, deterministic=True)], ()) == [remark]
    assert (not_deterministic(records, ["mine"], ()), own(records, known)) == ([], None)
    assert score_of(records, known) == pytest.approx(100 * OFFICIAL)


def test_after_an_interruption_or_a_failure_as_many_values_as_possible_are_used(single: Known) -> None:
    begun = own([*repeated("toy", SECOND), *rows("mine", {"model_0": 2.5}, repeat=2)], single)
    assert (begun.tasks["toy"].n_repeated, begun.error) == (8, pytest.approx(expected(single, SECOND)))
    nearly = own([*repeated("toy", SECOND), *rows("mine", THIRD[:7], repeat=2)], single)
    for without, found in (("model_7", nearly), ("model_3", own(repeated() + ended(Outcome.CRASH, "model_3"), single))):
        assert found.tasks["toy"].n_repeated == 7
        assert found.error == pytest.approx(expected(single, models=[one for one in MODELS if one != without]))


def test_the_board_has_a_column_only_with_repetitions(single: Known) -> None:
    with_them, without = (build_board(Collected([only(made, single)]), single) for made in (repeated(), rows("mine")))
    assert not any("own ±" in text for text in (*without.headings, *without.notes))
    mine = by_name(with_them)["mine"]
    cells = dict(zip(with_them.headings, with_them.cells(mine), strict=True))
    assert cells["own ±"] == f"{expected(single):.1f}"
    (figure,) = (figure for figure in with_them.figures if figure.key == "own_error")
    error = figure.value(mine)
    assert error == pytest.approx(expected(single))
    tasks = {"toy": {"error": error, "models": 8, "unsteady": 7}}
    assert in_json(with_them)["mine"]["own_randomness"] == {"error": error, "tasks": tasks}


def test_of_withheld_tasks_nothing_is_shown(known: Known) -> None:
    both = [*repeated(), *repeated("second"), failed("mine", "model_5", Outcome.CRASH, "second", repeat=2)]
    shown = build_board(Collected([only(both, known)]), known, ["second"])
    randomness = in_json(shown)["mine"]["own_randomness"]
    assert (randomness["error"], set(randomness["tasks"])) == (None, {"toy"})
    assert "own ±" not in shown.headings
    assert not any("repetitions" in line for line in shown.remarks)
    assert own(both, known, ["second", "toy"]) is None
    assert own([*repeated(), failed("mine", "model_5", Outcome.CRASH, "second")], known, ["second"]).error is None


def test_a_measure_that_calls_itself_deterministic_and_is_not_is_named_with_both_values(known: Known) -> None:
    def said(evaluations: list[Evaluation], withheld: Sequence[str] = (), *, deterministic: bool = True) -> list[str]:
        return remarks_on([only(evaluations, known, deterministic=deterministic)], withheld)

    start = "mine calls itself deterministic (metadata), but another seed gave another value"
    both = [*repeated("second"), *repeated()]
    assert said(repeated()) == said(both, ["second"]) == [f"{start}: 3.0 and 3.5 on toy/model_0"]
    assert said(repeated(), deterministic=False) == said(repeated("toy", MEASURE, MEASURE)) == []
    assert said([*repeated("second"), *repeated("toy", MEASURE)], ["second"]) == [f"{start} on a withheld task"]


def test_a_run_says_it_without_reference_data() -> None:
    records = [*repeated(), *rows("other", SECOND), *rows("other", THIRD, repeat=1)]
    (line,) = not_deterministic(records, ["mine"], ())
    assert line.startswith("mine calls itself deterministic")
    assert not_deterministic(records, [], ()) == []
    assert not_deterministic(records, ["mine"], ["toy"])[0].endswith("another value on a withheld task")
    records = [failed("mine", "model_0", Outcome.CRASH), *rows("mine", {"model_0": 1.0}, repeat=1)]
    assert not_deterministic(records, ["mine"], ()) == []
    (line,) = not_deterministic([*records, *rows("mine", {"model_0": 2.0}, repeat=2)], ["mine"], ())
    assert line.endswith("another value: 1.0 and 2.0 on toy/model_0"), "two repetitions contradict each other"
