"""Submissions through the stand-in of the platform's worker: scores are those of `pgdl run` and `pgdl score`."""

import json
import zipfile
from pathlib import Path

import pytest
from organised import GOOD, pack
from platform_worker import NEEDS_CONTAINERS, Ended, Worker

from harness import api
from harness.board.scores import percent

pytestmark = NEEDS_CONTAINERS

FEEDBACK, FINAL = 0, 1


@pytest.fixture(scope="module")
def worker(bundled, tmp_path_factory) -> Worker:
    return Worker(bundled / "bundle.zip", tmp_path_factory.mktemp("worker"))


def locally(bundled: Path, submission: Path, directory: Path, task: str) -> api.ScoreResult:
    """The scores that the organiser gets without the platform."""
    shared = {"tasks_dir": bundled / "task_data", "task_names": [task], "results": directory / "results.db"}
    api.run(submission, execution=api.Execution(time_limit_s=5), **shared)
    return api.score(**shared)


@pytest.mark.parametrize(("phase", "task"), [(FEEDBACK, "tiny"), (FINAL, "secret")])
def test_a_good_submission_has_the_score_of_a_local_run_to_the_last_digit(worker, bundled, tmp_path, phase, task):
    submission = pack(tmp_path, "good", GOOD)
    ended = worker.run(phase, submission)
    assert ended.status == "Finished", ended.log
    (mine,) = locally(bundled, submission, tmp_path, task).scores
    (found,) = mine.score.tasks.values()
    assert ended.scores["complete"] == 2
    assert (ended.scores["score"], ended.scores[f"task_{phase}"]) == (mine.score.score, percent(found.official))
    assert "Score " in ended.report
    assert "plotly" in ended.report


def test_a_hidden_phase_shows_rounded_scores_and_nothing_else(worker, tmp_path):
    ended = worker.run(FINAL, pack(tmp_path, "talker", f"print('SECRET')\n{GOOD}"))
    assert ended.status == "Finished", ended.log
    assert ended.scores.keys() == {"complete", "score", "task_1"}
    assert ended.scores["score"] == round(ended.scores["score"], 1)
    for text in (ended.log, ended.report):
        assert [word for word in ("SECRET", "model_0") if word in text] == []


def test_a_failing_submission_has_no_score_and_the_reason(worker, tmp_path):
    ended = worker.run(FEEDBACK, pack(tmp_path, "failing", "raise ValueError('no layer')"))
    assert (ended.status, ended.scores) == ("Finished", {"complete": 0, "seconds": ended.scores["seconds"]})
    assert "8 EXCEPTION: ValueError: no layer" in ended.report


def test_a_call_over_its_time_makes_the_score_0(worker, tmp_path):
    body = f"import time\nif len(model.layers) > 2 and model.layers[0].units == 6: time.sleep(60)\n{GOOD}"
    ended = worker.run(FEEDBACK, pack(tmp_path, "slow", body))
    assert ended.status == "Finished", ended.log
    assert (ended.scores["complete"], ended.scores["score"]) == (1, 0), "as on the board"


def test_files_that_are_no_submission_are_refused_by_name(worker, tmp_path):
    file = tmp_path / "empty.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("results.json", "{}")
    ended = worker.run(FEEDBACK, file)
    assert ended.scores["complete"] == 0
    assert "INVALID_SUBMISSION" in ended.report


def predictions(ended: Ended) -> dict[str, float]:
    """The values that were handed to the scoring program."""
    assert ended.prediction is not None
    with zipfile.ZipFile(ended.prediction) as archive:
        found: dict[str, float] = json.loads(archive.read("tiny.predict"))
        return found
