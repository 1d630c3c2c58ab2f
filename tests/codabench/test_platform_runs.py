"""Submissions through the stand-in of the platform's worker: scores are those of `pgdl run` and `pgdl score`."""

import io
import json
import zipfile
from inspect import signature
from pathlib import Path

import pytest
from organised import GOOD, pack
from platform_worker import NEEDS_CONTAINERS, Worker

from harness import api
from harness.board.scores import percent
from harness.codabench.results import OUT_OF_TIME, read_result
from harness.codabench.seal import read_key
from harness.execution.plan import call_key

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


def values_in(archive: Path, task: str) -> dict[str, float]:
    """The values of an output of the prediction step."""
    with zipfile.ZipFile(archive) as opened:
        found: dict[str, float] = json.loads(opened.read(f"{task}.predict"))
        return found


def test_a_good_submission_has_the_score_of_a_local_run_to_the_last_digit(worker, bundled, tmp_path):
    submission = pack(tmp_path, "good", GOOD)
    ended = worker.run(FEEDBACK, submission)
    assert ended.status == "Finished", ended.log
    (mine,) = locally(bundled, submission, tmp_path, "tiny").scores
    (task,) = mine.score.tasks.values()
    assert [ended.scores[key] for key in ("complete", "score", "task_0")] == [
        2,
        mine.score.score,
        percent(task.official),
    ]
    assert "plotly" in ended.report
    for row in api.results(tmp_path / "results.db"):
        assert call_key(**{part: row[part] for part in signature(call_key).parameters}) == row["key"]
    by_hand = tmp_path / "by_hand"
    with zipfile.ZipFile(ended.prediction) as archive:
        archive.extract("tiny.predict", by_hand)
    files = api.score(predictions=by_hand, tasks_dir=bundled / "task_data", task_names=["tiny"])
    assert files.scores[0].score.score == mine.score.score, "as from the competition's own files"


def test_a_hidden_phase_shows_rounded_scores_and_nothing_else(bundled, tmp_path):
    submission = pack(tmp_path, "talker", f"print('SECRET')\n{GOOD}")
    ended = Worker(bundled / "bundle.zip", tmp_path, network=False).run(FINAL, submission)
    assert ended.status == "Finished", ended.log
    (mine,) = locally(bundled, submission, tmp_path, "secret").scores
    assert ended.scores == {"complete": 2, "score": mine.score.score, "task_1": mine.score.score}
    assert mine.score.score == round(mine.score.score, 1)
    for text in (ended.log, ended.report):
        assert [word for word in ("SECRET", "model_0") if word in text] == []


@pytest.mark.full
def test_a_failing_submission_has_no_score_and_the_reason(worker, tmp_path):
    ended = worker.run(FEEDBACK, pack(tmp_path, "failing", "raise ValueError('no layer')"))
    assert (ended.status, ended.scores) == ("Finished", {"complete": 0, "seconds": ended.scores["seconds"]})
    assert "8 EXCEPTION: ValueError: no layer" in ended.report


@pytest.mark.full
def test_a_call_over_its_time_makes_the_score_0(worker, tmp_path):
    body = f"import time\nif len(model.layers) > 2 and model.layers[0].units == 6: time.sleep(60)\n{GOOD}"
    ended = worker.run(FEEDBACK, pack(tmp_path, "slow", body))
    assert ended.status == "Finished", ended.log
    assert (ended.scores["complete"], ended.scores["score"]) == (1, 0), "as on the board"


@pytest.mark.full
def test_files_that_are_no_submission_are_refused_by_name(worker, tmp_path):
    file = tmp_path / "empty.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("results.json", "{}")
    ended = worker.run(FEEDBACK, file)
    assert ended.scores["complete"] == 0
    assert "INVALID_SUBMISSION" in ended.report


def with_time(bundle: Path, seconds: int, target: Path) -> Path:
    """Write a copy of a bundle whose programs believe that containers have less time."""
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("_program.zip"):
                content = shortened(content, seconds)
            new.writestr(name, content)
    return target


def shortened(program: bytes, seconds: int) -> bytes:
    """Change the time in the settings of a program."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(program)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "phase.json":
                content = json.dumps(json.loads(content) | {"execution_time_limit_s": seconds}).encode()
            new.writestr(name, content)
    return packed.getvalue()


@pytest.mark.full
def test_what_is_finished_when_the_time_runs_out_counts(bundled, tmp_path):
    worker = Worker(with_time(bundled / "bundle.zip", 24, tmp_path / "short.zip"), tmp_path)
    ended = worker.run(FEEDBACK, pack(tmp_path, "waiting", f"import time; time.sleep(4)\n{GOOD}"))
    assert "of 8 calls were made, and the others have no value" in ended.report
    assert ended.scores.get("complete", 0) == 0
    result = read_result(ended.output.parents[1] / "prediction/output", read_key(bundled / "competition.key"))
    assert (result.ended, result.planned) == (OUT_OF_TIME, 8)
    made = values_in(ended.prediction, "tiny") if result.recorded else {}
    assert len(made) == result.recorded < 8
    locally(bundled, pack(tmp_path, "good", GOOD), tmp_path, "tiny")
    again = {row["model"]: row["value"] for row in api.results(tmp_path / "results.db")}
    assert made == {model: again[model] for model in made}, "a later run has the same values"


@pytest.mark.full
def test_a_container_that_is_killed_leaves_a_result_that_says_so(worker, bundled, tmp_path):
    ended = worker.run(FEEDBACK, pack(tmp_path, "endless", "while True: pass"), limit_s=15)
    assert (ended.status, ended.prediction) == ("Failed: time limit", None), "the platform keeps nothing"
    result = read_result(ended.output, read_key(bundled / "competition.key"))
    assert result.missing.startswith("the container was killed: ")
