"""Of all records, which count for a submission's score."""

from pathlib import Path

import pytest
from board_examples import MEASURE, MODELS, OFFICIAL, failed, references, rows

from harness.board.collect import Calls, collect
from harness.board.leaderboard import score_calls
from harness.records import Evaluation
from harness.sandbox.outcome import Outcome
from harness.task.reference import Reference
from scoring import TaskScore


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reference]:
    return references(tmp_path_factory.mktemp("reference"), "toy", "second")


def values(calls: Calls, task: str = "toy") -> dict[str, float | None]:
    return {model: row.value for (of, model), row in calls.rows.items() if of == task}


def only(evaluations: list[Evaluation], known: dict[str, Reference]) -> Calls:
    (calls,) = collect(evaluations, known)
    return calls


def test_the_score_is_the_competitions(tmp_path: Path) -> None:
    known = references(tmp_path)
    score = score_calls(only(rows("margin"), known), known)
    assert score.score == pytest.approx(100 * OFFICIAL, rel=0, abs=1e-10)
    assert score.complete


def test_the_newest_record_of_a_model_counts(known: dict[str, Reference]) -> None:
    again = rows("margin", {"model_3": 33.0}, seed=1)
    assert values(only([*rows("margin"), *again], known)) == dict(zip(MODELS, MEASURE, strict=True)) | {"model_3": 33.0}


def test_a_newer_failure_counts_as_well(known: dict[str, Reference]) -> None:
    crashed = failed("margin", "model_3", Outcome.CRASH)
    score = score_calls(only([*rows("margin"), crashed], known), known)
    assert score.tasks["toy"] == "1 of 8 calls gave no value (model_3: CRASH)"


def test_the_newest_version_of_a_submission_counts(known: dict[str, Reference]) -> None:
    """Even where the older one has records on more models."""
    first, second = rows("margin", submission_digest="v1"), rows("margin", {"model_0": 9.0}, submission_digest="v2")
    assert values(only([*first, *second], known)) == {"model_0": 9.0}


def test_versions_of_two_submissions_have_nothing_to_do_with_each_other(known: dict[str, Reference]) -> None:
    one, two = rows("one", submission_digest="v1"), rows("two", submission_digest="v2")
    assert [(calls.submission, len(calls.rows)) for calls in collect([*two, *one], known)] == [("one", 8), ("two", 8)]


@pytest.mark.parametrize("sandboxed_first", [True, False])
def test_a_sandboxed_record_goes_before_one_that_is_not(sandboxed_first: bool, known: dict[str, Reference]) -> None:
    inside, outside = rows("margin"), rows("margin", [0.0] * 8, sandbox="none")
    calls = only([*inside, *outside] if sandboxed_first else [*outside, *inside], known)
    assert (list(values(calls).values()), calls.sandboxed) == (MEASURE, True)


def test_one_call_without_a_sandbox_is_enough_not_to_rank(known: dict[str, Reference]) -> None:
    calls = only([*rows("margin"), *rows("margin", {"model_0": 1.0}, task="second", sandbox="none")], known)
    assert not calls.sandboxed


def test_of_records_without_a_sandbox_the_newest_counts(known: dict[str, Reference]) -> None:
    outside = [*rows("margin", sandbox="none"), *rows("margin", [0.0] * 8, sandbox="none", seed=1)]
    assert set(values(only(outside, known)).values()) == {0.0}


def test_other_tasks_and_other_models_do_not_count(known: dict[str, Reference]) -> None:
    """As when a task was made smaller after a run."""
    others = [*rows("margin", {"model_0": 1.0}, task="unknown"), *rows("margin", {"model_99": 1.0})]
    calls = only([*rows("margin"), *others], known)
    assert set(calls.rows) == {("toy", model) for model in MODELS}
    assert collect(rows("elsewhere", task="unknown"), known) == []


def test_a_model_without_a_record_is_missing(known: dict[str, Reference]) -> None:
    calls = only(rows("margin", dict(zip(MODELS[:6], MEASURE[:6], strict=True))), known)
    assert score_calls(calls, known).tasks["toy"] == "2 of 8 calls gave no value (model_6: missing, model_7: missing)"


@pytest.mark.parametrize("outcome", [o for o in Outcome if o not in (Outcome.OK, Outcome.TIMEOUT)])
def test_a_failed_call_leaves_its_task_out(outcome: Outcome, known: dict[str, Reference]) -> None:
    second = rows("margin", task="second")
    score = score_calls(only([*rows("margin"), *second, failed("margin", "model_5", outcome)], known), known)
    assert score.tasks["toy"] == f"1 of 8 calls gave no value (model_5: {outcome})"
    assert isinstance(score.tasks["second"], TaskScore)
    assert score.score == pytest.approx(100 * OFFICIAL)
    assert (score.complete, score.exceeded) == (False, False)


def test_a_call_over_its_time_makes_the_whole_score_0(known: dict[str, Reference]) -> None:
    late = failed("margin", "model_5", Outcome.TIMEOUT)
    score = score_calls(only([*rows("margin"), *rows("margin", task="second"), late], known), known)
    assert (score.score, score.complete, score.exceeded) == (0.0, False, True)


def test_whether_it_is_a_baseline_is_in_its_records(known: dict[str, Reference]) -> None:
    found = collect([*rows("mine"), *rows("path_norm", is_baseline=True)], known)
    assert {calls.submission: calls.is_baseline for calls in found} == {"mine": False, "path_norm": True}
