"""Tests of submissions on a stand-in of the platform's worker: scores equal those of `pgdl run` and `pgdl score`."""

import json
import zipfile
from pathlib import Path

import pytest
from organised import GOOD, TOML, organise, pack
from platform_worker import Worker

import pgdl
from harness.board.scores import percent
from harness.codabench.bundle import write_bundle
from harness.codabench.results import OUT_OF_TIME, read_result
from harness.execution.plan import KEY_COLUMNS, call_key
from tests.containers import NEEDS_CONTAINERS

pytestmark = [*NEEDS_CONTAINERS, pytest.mark.rest]

FEEDBACK = 0


def locally(bundled: Path, submission: Path, directory: Path, task: str) -> pgdl.ScoreResult:
    """Return the scores of a run without the platform."""
    shared = {"tasks_dir": bundled / "task_data", "task_names": [task], "results": directory / "results.db"}
    pgdl.run(submission, execution=pgdl.Execution(time_limit_s=5), **shared)
    return pgdl.score(**shared)


def values_in(archive: Path, task: str) -> dict[str, float]:
    """Return model -> value in the output of the prediction step."""
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
        100,
        mine.score.score,
        percent(task.official),
    ]
    assert "<circle" in ended.report
    for row in pgdl.results(tmp_path / "results.db"):
        assert call_key(*(row[column] for column in KEY_COLUMNS)) == row["key"]
    by_hand = tmp_path / "by_hand"
    with zipfile.ZipFile(ended.prediction) as archive:
        archive.extract("tiny.predict", by_hand)
    files = pgdl.score(predictions=by_hand, tasks_dir=bundled / "task_data", task_names=["tiny"])
    assert files.scores[0].score.score == mine.score.score, "as from the competition's own files"


def test_a_zip_of_the_folder_is_the_submission(worker, tmp_path):
    """The zip has a folder and leftovers of macOS; the report names the folder."""
    plain, folder = pack(tmp_path, "good", GOOD), tmp_path / "folder.zip"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(folder, "w") as new:
        new.writestr("__MACOSX/mine/._complexity.py", "x")
        for name in old.namelist():
            new.writestr(f"mine/{name}", old.read(name))
    ended = worker.run(FEEDBACK, folder)
    assert ended.status == "Finished", ended.log
    assert ended.scores["complete"] == 100
    assert "Its only folder, mine, is the submission." in ended.report


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
    assert (ended.scores["complete"] < 100, ended.scores["score"]) == (True, 0), "as on the board"


@pytest.mark.full
def test_what_is_finished_when_the_time_runs_out_counts(bundled, tmp_path, monkeypatch):
    monkeypatch.setenv("PGDL_CACHE", str(bundled / "cache"))
    toml = TOML.replace("execution_time_limit = 600", "execution_time_limit = 60").replace("= 5\n", "= 30\n")
    write_bundle(organise(tmp_path, toml), tmp_path / "short.zip")
    worker = Worker(tmp_path / "short.zip", tmp_path)
    ended = worker.run(FEEDBACK, pack(tmp_path, "waiting", f"import time; time.sleep(25)\n{GOOD}"))
    assert "of 8 calls were made, and the others have no value" in ended.report
    assert ended.scores.get("complete", 0) < 100
    result = read_result(ended.output.parents[1] / "prediction/output")
    assert result.ended == OUT_OF_TIME
    made = values_in(ended.prediction, "tiny") if ended.status == "Finished" else {}
    assert len(made) < 8
    locally(bundled, pack(tmp_path, "good", GOOD), tmp_path, "tiny")
    again = {row["model"]: row["value"] for row in pgdl.results(tmp_path / "results.db")}
    assert made == {model: again[model] for model in made}, "a later run has the same values"


@pytest.mark.full
def test_a_container_that_is_killed_leaves_a_result_that_says_so(worker, tmp_path):
    ended = worker.run(FEEDBACK, pack(tmp_path, "endless", "while True: pass"), killed_after_s=15)
    assert ended.status == "Failed"
    assert "the container was killed: 0 of 8 calls were made" in ended.report
