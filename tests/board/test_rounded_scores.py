"""Tests of rounded scores on hidden tasks: they decide ranks, and no unrounded number is published."""

import csv
import io
import json
from collections.abc import Collection
from itertools import count

import pytest
from board_examples import MEASURE, collect, failed, references, rows

from harness.board.board import Board
from harness.board.disclosure import REASON_WITHHELD, rounded
from harness.board.formats import csv as csv_format
from harness.board.formats import json as json_format
from harness.board.formats import markdown
from harness.board.leaderboard import build_board, score_calls
from harness.board.row import Row
from harness.format.reference import Reference
from harness.outcome import Outcome
from harness.records import Evaluation
from scoring import SubmissionScore, TaskScore

TASKS = ["open", "secret"]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reference]:
    return references(tmp_path_factory.mktemp("reference"), *TASKS)


def both(submission: str, values: list[float]) -> list[Evaluation]:
    return [row for task in TASKS for row in rows(submission, values, task)]


def whole_board(
    known: dict[str, Reference], evaluations: list[Evaluation], withheld: Collection[str] = ("secret",)
) -> Board:
    return build_board(collect(evaluations, known), known, withheld)


def board(
    known: dict[str, Reference], evaluations: list[Evaluation], withheld: Collection[str] = ("secret",)
) -> dict[str, Row]:
    return {row.submission: row for row in whole_board(known, evaluations, withheld).rows}


def test_every_number_is_rounded_and_its_parts_are_left_out(known: dict[str, Reference]) -> None:
    row = board(known, both("mine", MEASURE))["mine"]
    exact = board(known, both("mine", MEASURE), ())["mine"].result.tasks["secret"]
    task = row.result.tasks["secret"]
    assert isinstance(task, TaskScore)
    assert isinstance(exact, TaskScore)
    assert (task.official, task.official_pairs, task.printed_subsets, task.granulated_psi) == (0.295, {}, {}, {})
    assert (task.printed, task.official) == (None, round(exact.official or 0.0, 3))
    assert row.result.score == 29.5
    assert row.rounded == ("secret",)


def test_open_tasks_keep_their_digits(known: dict[str, Reference]) -> None:
    row = board(known, both("mine", MEASURE))["mine"]
    exact = board(known, both("mine", MEASURE), ())["mine"]
    assert row.result.tasks["open"] == exact.result.tasks["open"]
    assert (exact.rounded, exact.result.score) != (row.rounded, row.result.score)


def test_the_final_score_is_computed_from_rounded_scores_only(known: dict[str, Reference]) -> None:
    """The exact final score would reveal more than the rounded scores."""
    score = score_calls(collect(both("mine", MEASURE), known).shown[0], known)
    tasks = {name: _with_official(task, official) for (name, task), official in zip(
        score.tasks.items(), (0.0, 0.29951), strict=True)}  # fmt: skip
    found = rounded(SubmissionScore(14.9755, tasks, True, False), ["open", "secret"])
    assert found.score == pytest.approx(100 * 0.300 / 2)


def _with_official(task: TaskScore | str, official: float) -> TaskScore:
    assert isinstance(task, TaskScore)
    return TaskScore(**(vars(task) | {"official": official}))


def test_rank_correlations_of_hidden_tasks_are_withheld(known: dict[str, Reference]) -> None:
    score = score_calls(collect(both("mine", MEASURE), known).shown[0], known)
    tasks = rounded(score, ["secret"]).tasks
    correlations = {name: (task.kendall, task.granulated_kendall) for name, task in tasks.items()}  # type: ignore[union-attr]
    assert correlations.pop("secret") == (None, None)
    assert all(None not in pair for pair in correlations.values())


def test_equal_rounded_scores_share_a_rank_and_stand_by_name(
    known: dict[str, Reference], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count()
    everybody = [row for name in ("c", "a", "b") for row in both(name, MEASURE)]

    def nearly(*_: object) -> SubmissionScore:
        task = _with_official(exact.tasks["secret"], 0.29501 + next(numbers) * 1e-4)
        return SubmissionScore(100 * task.official, {"secret": task}, True, False)

    exact = score_calls(collect(everybody, known).shown[0], known)
    monkeypatch.setattr("harness.board.leaderboard.score_calls", nearly)
    alone = {"secret": known["secret"]}
    assert [(row.rank, name) for name, row in board(alone, everybody).items()] == [
        (1, "a"), (1, "b"), (1, "c"),
    ]  # fmt: skip
    assert list(board(alone, everybody, ())) == ["c", "b", "a"]


def test_reasons_say_neither_which_model_failed_nor_how(known: dict[str, Reference]) -> None:
    broken = [*both("mine", MEASURE), failed("mine", "model_4", Outcome.CRASH, task="secret")]
    late = [*both("late", MEASURE), failed("late", "model_4", Outcome.TIMEOUT, task="secret")]
    found = board(known, [*broken, *late])
    assert [found[name].result.tasks["secret"] for name in ("mine", "late")] == [REASON_WITHHELD, REASON_WITHHELD]
    assert found["late"].result.score == 0.0
    assert "model_4" not in json_format.render(whole_board(known, [*broken, *late]))


def test_times_on_hidden_tasks_do_not_count(known: dict[str, Reference]) -> None:
    slow = rows("mine", MEASURE, "secret", call_wall_s=123.456)
    assert board(known, [*slow, *rows("mine", MEASURE, "open")])["mine"].seconds_per_model == 1.5
    assert board(known, slow)["mine"].seconds_per_model is None


def test_all_formats_show_the_rounded_numbers_and_say_so(known: dict[str, Reference]) -> None:
    found = whole_board(known, both("mine", MEASURE))
    (mine,) = (row for row in found.rows if row.submission == "mine")
    assert found.cells(mine)[3:6] == ["29.5", "29.54", "29.5"]
    assert found.notes[-1].startswith("hidden: secret. Scores there, and final scores, are rounded to 1 decimal")
    assert found.notes[-1] in markdown.render(found)
    lines = {row["submission"]: row for row in csv.DictReader(io.StringIO(csv_format.render(found)))}
    assert (lines["mine"]["score"], lines["mine"]["score:secret"]) == ("29.5", "29.5")
    content = {row["submission"]: row for row in json.loads(json_format.render(found))["rows"]}
    assert (content["mine"]["rounded"], content["mine"]["tasks"]["secret"]["official"]) == (["secret"], 29.5)


def test_without_hidden_tasks_nothing_is_said(known: dict[str, Reference]) -> None:
    found = whole_board(known, both("mine", MEASURE), ())
    assert not any("hidden" in note for note in found.notes)
