"""Tests of repetitions on a board: they show the measure's own randomness in a score, and never change the score."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from board_examples import MEASURE, MODELS, OFFICIAL, collect, failed, rows, write_reference

from harness.board.board import Board
from harness.board.collect import Calls, Collected
from harness.board.leaderboard import build_board, score_calls
from harness.board.repetitions import (
    OwnRandomness,
    describe,
    not_deterministic,
    own_randomness,
    own_randomness_object,
    remarks_on,
)
from harness.format.reference import Reference, read_reference
from harness.outcome import Outcome
from harness.records import Evaluation
from harness.task.contents import Contents
from scoring import measure_stability
from tests.records.evaluation_rows import request

pytestmark = pytest.mark.rest

#: Values of other seeds.
SECOND = [3.5, 2.0, 0.5, 1.0, 5.0, 7.0, 2.0, 8.0]
THIRD = [2.5, 5.0, 3.0, 1.0, 6.0, 9.0, 1.0, 4.0]


def repeated(task: str = "toy", *others: Sequence[float], **columns: object) -> list[Evaluation]:
    """Records of a submission's calls on a task, and of their repetitions: `others` has each repetition's values."""
    records = rows("mine", task=task, **columns)
    for repeat, values in enumerate(others or (SECOND, THIRD), 1):
        records += rows("mine", values, task, repeat=repeat, **columns)
    return records


def only(evaluations: list[Evaluation], known: dict[str, Reference], *, deterministic: bool = False) -> Calls:
    first = evaluations[0]
    (calls,) = collect(evaluations, known, [request(first, task="toy", deterministic=deterministic)]).shown
    return calls


def own(
    evaluations: list[Evaluation], known: dict[str, Reference], withheld: Sequence[str] = ()
) -> OwnRandomness | None:
    calls = only(evaluations, known)
    return own_randomness(calls, score_calls(calls, known), known, withheld)


def expected(known: dict[str, Reference], *others: Sequence[float], models: Sequence[str] = MODELS) -> float:
    """Return the error of the official score, by the function that docs/statistics.md explains."""
    repeats = {model: [values[MODELS.index(model)] for values in others or (SECOND, THIRD)] for model in models}
    reference = known["toy"]
    return 100 * measure_stability(MEASURE, list(reference.gaps.values()), reference.grid, repeats).error


def test_repetitions_never_count_in_a_score(known: dict[str, Reference]) -> None:
    calls = only([*rows("mine", SECOND, repeat=1), *rows("mine")], known)
    assert calls.on("toy", known["toy"]).values == dict(zip(MODELS, MEASURE, strict=True))
    assert score_calls(calls, {"toy": known["toy"]}).score == pytest.approx(100 * OFFICIAL)
    assert calls.repeats["toy", "model_2"] == [0.5]


def test_a_repetition_without_its_call_leaves_the_model_without_a_value(known: dict[str, Reference]) -> None:
    calls = only([*rows("mine", dict(zip(MODELS[:7], MEASURE, strict=False))), *rows("mine", SECOND, repeat=1)], known)
    assert score_calls(calls, {"toy": known["toy"]}).tasks["toy"] == "1 of 8 calls gave no value (model_7: missing)"
    assert own_randomness(calls, score_calls(calls, known), known, ()) is None


def test_they_are_in_the_order_of_their_numbers_and_the_newest_counts(known: dict[str, Reference]) -> None:
    late = rows("mine", {"model_0": 9.5}, repeat=1)
    calls = only([*rows("mine", THIRD, repeat=2), *rows("mine", SECOND, repeat=1), *rows("mine"), *late], known)
    assert calls.repeats["toy", "model_0"] == [9.5, 2.5]


def test_repetitions_of_other_models_data_versions_and_configurations_do_not_count(known: dict[str, Reference]) -> None:
    contents = {"toy": Contents(dict.fromkeys(MODELS, "m0"), "t0")}
    others = [
        rows("mine", SECOND, repeat=1, model_digest="old"),
        rows("mine", SECOND, repeat=1, data_digest="old"),
        rows("mine", SECOND, repeat=1, submission_digest="old"),
        rows("mine", SECOND, repeat=1, run_seed=1),
    ]
    for records in others:
        shown = collect([*records, *rows("mine")], known, contents=contents, everything=True).shown
        (calls,) = (calls for calls in shown if calls.rows)
        assert (calls.repeats, calls.stale) == ({}, frozenset())


def test_the_error_of_a_task_and_of_the_final_score(known: dict[str, Reference]) -> None:
    found = own([*repeated(), *repeated("second", SECOND, MEASURE)], known)
    assert found is not None
    toy, second = expected(known), expected(known, SECOND, MEASURE)
    assert [100 * found.tasks[task].error for task in ("toy", "second")] == [pytest.approx(toy), pytest.approx(second)]
    assert found.error == pytest.approx(math.sqrt(toy**2 + second**2) / 2)
    assert describe(found) == [
        f"second: own randomness: ±{second:.1f} points; 5 of 8 models called again gave another value",
        f"toy: own randomness: ±{toy:.1f} points; 7 of 8 models called again gave another value",
        f"final score: own randomness: ±{found.error:.1f} points",
    ]


def test_the_final_score_has_none_if_a_scored_task_lacks_repetitions(known: dict[str, Reference]) -> None:
    found = own([*repeated(), *rows("mine", task="second")], known)
    assert found is not None
    assert (set(found.tasks), found.error) == ({"toy"}, None)
    unscored = own([*repeated(), failed("mine", "model_0", Outcome.CRASH, "second")], known)
    assert unscored is not None
    assert unscored.error == pytest.approx(expected(known)), "a task without a score is not in the mean"
    late = own([*repeated(), failed("mine", "model_0", Outcome.TIMEOUT, "second")], known)
    assert late is not None
    assert late.error is None, "the score is 0 whatever the seed"


def test_without_repetitions_there_is_none(known: dict[str, Reference]) -> None:
    assert own(rows("mine"), known) is None
    assert own_randomness_object(None) is None


def test_a_grid_without_an_official_score_has_none(tmp_path: Path) -> None:
    file = write_reference(tmp_path, sizes=(4, 2)) / "toy" / "model_configs.json"
    assert own(repeated(), {"toy": read_reference(file)}) is None


def test_a_failed_repetition_leaves_out_its_model(known: dict[str, Reference]) -> None:
    records = [*repeated(), failed("mine", "model_3", Outcome.CRASH, repeat=2)]
    found = own(records, {"toy": known["toy"]})
    assert found is not None
    assert found.tasks["toy"].n_repeated == 7
    assert found.error == pytest.approx(expected(known, models=[model for model in MODELS if model != "model_3"]))
    assert score_calls(only(records, known), {"toy": known["toy"]}).score == pytest.approx(100 * OFFICIAL)
    (line,) = remarks_on([only(records, known)], ())
    assert line == "mine on toy: failed repetitions, which affect no score: 1 CRASH, on model_3"


def test_failed_repetitions_are_counted_by_outcome_the_most_frequent_first(known: dict[str, Reference]) -> None:
    late = [failed("mine", model, Outcome.TIMEOUT, repeat=1) for model in MODELS[:2]]
    records = [*rows("mine"), failed("mine", "model_0", Outcome.CRASH, repeat=2), *late]
    (line,) = remarks_on([only(records, known)], ())
    assert line.endswith(": 2 TIMEOUT, 1 CRASH, on model_0, model_1")


def test_after_an_interruption_as_many_values_as_possible_are_used(known: dict[str, Reference]) -> None:
    one = {"toy": known["toy"]}
    begun = own([*repeated("toy", SECOND), *rows("mine", {"model_0": 2.5}, repeat=2)], one)
    assert begun is not None
    assert (begun.tasks["toy"].n_repeated, begun.error) == (8, pytest.approx(expected(known, SECOND)))
    nearly = own([*repeated("toy", SECOND), *rows("mine", dict(zip(MODELS[:7], THIRD, strict=False)), repeat=2)], one)
    assert nearly is not None
    assert nearly.tasks["toy"].n_repeated == 7


def test_all_repetitions_failed(known: dict[str, Reference]) -> None:
    records = [*rows("mine"), *(failed("mine", model, Outcome.TIMEOUT, repeat=1) for model in MODELS)]
    assert own(records, known) is None
    (line,) = remarks_on([only(records, known)], ())
    assert line.endswith("8 TIMEOUT, on model_0, model_1, model_2 and 5 more")
    assert score_calls(only(records, known), {"toy": known["toy"]}).score == pytest.approx(100 * OFFICIAL)


def board(evaluations: list[Evaluation], known: dict[str, Reference], withheld: Sequence[str] = ()) -> Board:
    return build_board(Collected([only(evaluations, known)]), known, withheld)


def test_the_board_has_a_column_only_with_repetitions(known: dict[str, Reference]) -> None:
    one = {"toy": known["toy"]}
    with_them, without = board(repeated(), one), board(rows("mine"), one)
    assert "own ±" in with_them.headings
    assert "own ±" not in without.headings
    assert not any("own ±" in note for note in without.notes)
    (mine,) = (row for row in with_them.rows if row.submission == "mine")
    assert f"{expected(known):.1f}" in with_them.cells(mine)
    (csv,) = (figure for figure in with_them.figures if figure.key == "own_error")
    assert csv.value(mine) == pytest.approx(expected(known))
    objects = {row["submission"]: row["own_randomness"] for row in with_them.content["rows"]}
    assert objects["mine"] == {
        "error": csv.value(mine), "tasks": {"toy": {"error": csv.value(mine), "models": 8, "unsteady": 7}},
    }  # fmt: skip


def test_of_withheld_tasks_nothing_is_shown(known: dict[str, Reference]) -> None:
    both = [*repeated(), *repeated("second"), failed("mine", "model_5", Outcome.CRASH, "second", repeat=2)]
    shown = board(both, known, ["second"])
    (mine,) = (row for row in shown.content["rows"] if row["submission"] == "mine")
    assert (mine["own_randomness"]["error"], set(mine["own_randomness"]["tasks"])) == (None, {"toy"})
    assert "own ±" not in shown.headings
    assert not any("repetitions" in line for line in shown.remarks)
    assert own(both, known, ["second", "toy"]) is None
    unscored = own([*repeated(), failed("mine", "model_5", Outcome.CRASH, "second")], known, ["second"])
    assert unscored is not None
    assert unscored.error is None


def test_a_measure_that_calls_itself_deterministic_and_is_not_is_named_with_both_values(
    known: dict[str, Reference],
) -> None:
    claims = only(repeated(), known, deterministic=True)
    (line,) = remarks_on([claims], ())
    assert line == (
        "mine calls itself deterministic (metadata), but another seed gave another value: 3.0 and 3.5 on toy/model_0"
    )
    assert remarks_on([only(repeated(), known)], ()) == [], "it does not say so"
    assert remarks_on([only(repeated("toy", MEASURE, MEASURE), known, deterministic=True)], ()) == []


def test_of_a_withheld_task_only_that_it_is_so(known: dict[str, Reference]) -> None:
    claims = only([*repeated("second"), *repeated("toy", MEASURE)], known, deterministic=True)
    (line,) = remarks_on([claims], ["second"])
    assert line == "mine calls itself deterministic (metadata), but another seed gave another value on a withheld task"
    both = only([*repeated("second"), *repeated()], known, deterministic=True)
    (line,) = remarks_on([both], ["second"])
    assert line.endswith("on toy/model_0"), "a task that may be named comes first"


def test_a_run_says_it_without_reference_data() -> None:
    records = [*repeated(), *rows("other", SECOND), *rows("other", THIRD, repeat=1)]
    (line,) = not_deterministic(records, ["mine"], ())
    assert line.startswith("mine calls itself deterministic")
    assert not_deterministic(records, [], ()) == []


def test_two_repetitions_can_contradict_each_other(known: dict[str, Reference]) -> None:
    records = [failed("mine", "model_0", Outcome.CRASH), *rows("mine", {"model_0": 1.0}, repeat=1)]
    assert not_deterministic(records, ["mine"], ()) == []
    (line,) = not_deterministic([*records, *rows("mine", {"model_0": 2.0}, repeat=2)], ["mine"], ())
    assert line.endswith("another value: 1.0 and 2.0 on toy/model_0")


def test_a_failure_is_not_another_value(known: dict[str, Reference]) -> None:
    late = [*rows("mine"), *(failed("mine", model, Outcome.TIMEOUT, repeat=1) for model in MODELS)]
    assert len(remarks_on([only(late, known, deterministic=True)], ())) == 1
    assert not_deterministic(late, ["mine"], ()) == []
