"""Tests of submissions on a stand-in of the platform's worker: scores equal those of `pgdl run` and `pgdl score`.

The platform runs the command of a submission, if it has one, outside of every sandbox.
"""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from organised import GOOD, TOML, inner, organise, pack
from platform_worker import Worker

import pgdl
from harness.board.scores import percent
from harness.codabench.bundle import write_bundle
from harness.codabench.ingestion import ingest
from harness.codabench.results import OUT_OF_TIME, read_result
from harness.execution.plan import KEY_COLUMNS, call_key
from tests.containers import NEEDS_CONTAINERS

pytestmark = NEEDS_CONTAINERS

FEEDBACK = 0


def locally(bundled: Path, submission: Path, directory: Path, task: str) -> pgdl.ScoreResult:
    """Return the scores of a run without the platform."""
    shared = {"tasks_dir": bundled / "task_data", "task_names": [task], "results": directory / "results.db"}
    pgdl.run(submission, execution=pgdl.Execution(time_limit_s=5), **shared)
    return pgdl.score(**shared)


@pytest.mark.rest
def test_a_good_submission_has_the_score_of_a_local_run_to_the_last_digit(worker, bundled, tmp_path):
    submission = pack(tmp_path, "good", GOOD)
    ended = worker.run(FEEDBACK, submission)
    assert ended.status == "Finished", ended.log
    (mine,) = locally(bundled, submission, tmp_path, "tiny").scores
    (task,) = mine.score.tasks.values()
    expected = [100, mine.score.score, percent(task.official)]
    assert [ended.scores[key] for key in ("complete", "score", "task_0")] == expected
    assert "<circle" in ended.report
    for row in pgdl.results(tmp_path / "results.db"):
        assert call_key(*(row[column] for column in KEY_COLUMNS)) == row["key"]
    by_hand = tmp_path / "by_hand"
    with zipfile.ZipFile(ended.prediction) as archive:
        archive.extract("tiny.predict", by_hand)
    files = pgdl.score(predictions=by_hand, tasks_dir=bundled / "task_data", task_names=["tiny"])
    assert files.scores[0].score.score == mine.score.score, "as from the competition's own files"


@pytest.mark.rest
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


@pytest.mark.rest
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
    made: dict[str, float] = {}
    if ended.status == "Finished":
        with zipfile.ZipFile(ended.prediction) as opened:
            made = json.loads(opened.read("tiny.predict"))
    assert len(made) < 8
    locally(bundled, pack(tmp_path, "good", GOOD), tmp_path, "tiny")
    again = {row["model"]: row["value"] for row in pgdl.results(tmp_path / "results.db")}
    assert made == {model: again[model] for model in made}, "a later run has the same values"


@pytest.mark.rest
@pytest.mark.full
def test_a_container_that_is_killed_leaves_a_result_that_says_so(worker, tmp_path):
    ended = worker.run(FEEDBACK, pack(tmp_path, "endless", "while True: pass"), killed_after_s=15)
    assert ended.status == "Failed"
    assert "the container was killed: 0 of 8 calls were made" in ended.report


@pytest.mark.parametrize(
    "metadata", ["command: /bin/true", "command: &a /bin/true", "command: !!str /bin/true", "command: a\ncommand: null"]
)
def test_what_may_be_a_command_is_refused(bundled, tmp_path, metadata):
    """The platform would run the command beside the ingestion program, outside of every sandbox."""
    program, submission, output = (tmp_path / name for name in ("program", "submission", "output"))
    for place in (submission, output):
        place.mkdir()
    (submission / "metadata").write_text(metadata)
    inner(bundled / "bundle.zip", "phase_0_ingestion_program.zip").extractall(program)
    assert ingest(program, tmp_path, submission, output, pgdl.Progress()).problem.startswith("refused: metadata ")


#: Hides the command, and leaves somebody else's result where the ingestion program cannot write.
THEFT = """
cd /app/program
rm metadata.yaml
for name in result.json records.db tiny.predict; do mkdir -p /app/output/.$name.new/held; done
cp stolen.db /app/output/records.db
cp stolen.json /app/output/result.json
"""


@pytest.mark.rest
def test_what_somebody_stole_is_found_when_results_are_collected(worker, collect, folder):
    """On the platform, the copied result gets the score of the original, because nothing is checked there."""
    good = pack(folder, "good", GOOD)
    honest = worker.run(FEEDBACK, good)
    with zipfile.ZipFile(honest.prediction) as archive:
        stolen = {"stolen__db": archive.read("records.db"), "stolen__json": archive.read("result.json")}
    script = {"metadata__yaml": "command: sh /app/program/theft.sh\n", "theft__sh": THEFT}
    thief = pack(folder, "thief", "return 1.0", **script, **stolen)
    platform = worker.run(FEEDBACK, thief)
    assert platform.scores["score"] == honest.scores["score"], "the theft works there"
    exports = folder / "exports"
    (exports / "results").mkdir(parents=True)
    for name, file, ended in (("ann", good, honest), ("eve", thief, platform)):
        shutil.copy(file, exports / f"{name}.zip")
        shutil.copy(ended.prediction, exports / "results" / f"{name}.zip")
    collected = collect()
    assert "Feedback: 1 submission, 8 new calls" in collected.out, collected.err
    assert "its records are not of its own files: found the files of ann" in collected.err
