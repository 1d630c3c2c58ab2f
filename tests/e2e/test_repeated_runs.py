"""Tests of `pgdl run --repeat` with a random measure, a deterministic one, and a random one that claims determinism."""

import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from real_runs import FASTEST, records, wait_for, write_submission
from throwaway import make_task

pytestmark = [pytest.mark.usefixtures("sandbox"), pytest.mark.rest]

STEADY = "import numpy as np\nreturn float(np.linalg.norm(model.get_weights()[0]))"
NOISY = f"import random\n{STEADY.replace('return', 'size =', 1)}\nreturn size + random.gauss(0, 1)"


def write_claiming(directory: Path, name: str, body: str) -> Path:
    """Write a submission whose metadata say `deterministic: true`."""
    (directory / name).mkdir()
    write_submission(directory / name, "complexity", body)
    (directory / name / "metadata").write_text("deterministic: true\n")
    return directory / name


def test_luck_is_measured_and_who_denies_it_is_named(tmp_path, competition, pgdl):
    submissions = [
        write_submission(tmp_path, "noisy", NOISY),
        write_claiming(tmp_path, "steady", STEADY),
        write_claiming(tmp_path, "boaster", NOISY),
    ]
    shared = ("--tasks", competition, "--results", tmp_path / "results.db")
    done = pgdl("run", *submissions, "random", *shared, "--repeat", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tiny, repeated  8 of 8" in done.stdout
    rows = records(tmp_path / "results.db")
    assert Counter(row["repeat"] for row in rows) == {0: 32, 1: 32}
    (line,) = (line for line in done.stderr.splitlines() if "deterministic" in line)
    assert line.startswith("pgdl: boaster calls itself deterministic (metadata), but another seed gave another value: ")
    assert " on tiny/model_" in line

    scored = json.loads(pgdl("score", *shared, "--format", "json").stdout)
    own = {row["submission"]: row["own_randomness"]["tasks"]["tiny"] for row in scored["submissions"]}
    assert own["steady"] == {"error": 0.0, "models": 8, "unsteady": 0}
    for name in ("noisy", "boaster", "random"):
        assert (own[name]["models"], own[name]["unsteady"]) == (8, 8)
        assert own[name]["error"] > 1
    assert [line for line in scored["remarks"] if "deterministic" in line] == [line.removeprefix("pgdl: ")]


def test_repetitions_resume_and_leave_the_first_values_as_they_are(tmp_path, four_models, pgdl, start):
    submission = write_submission(tmp_path, "noisy", f"import time\ntime.sleep(0.3)\n{NOISY}")
    database, plain = tmp_path / "results.db", tmp_path / "plain.db"
    arguments = ("run", submission, "--tasks", four_models, "--workers", 1, *FASTEST)
    harness = start(*arguments, "--results", database, "--repeat", 1)
    wait_for(lambda: len(records(database)) >= 3, "three records")
    harness.send_signal(signal.SIGINT)
    assert harness.wait(240) == 130
    before = records(database)
    assert len(before) < 8

    assert pgdl(*arguments, "--results", database, "--repeat", 1).returncode == 0
    after = records(database)
    assert after[: len(before)] == before
    assert Counter(row["repeat"] for row in after) == {0: 4, 1: 4}
    done = pgdl(*arguments, "--results", database, "--repeat", 2)
    assert "8 of 12 calls are recorded already" in done.stdout
    assert Counter(row["repeat"] for row in records(database)) == {0: 4, 1: 4, 2: 4}

    assert pgdl(*arguments, "--results", plain).returncode == 0
    counting = [{row["model"]: (row["key"], row["value"]) for row in records(file) if not row["repeat"]}
                for file in (database, plain)]  # fmt: skip
    assert counting[0] == counting[1]


def test_a_slow_repetition_leaves_the_budget_of_the_calls_that_count(tmp_path, four_models, pgdl):
    body = "import random, time\ntime.sleep(0.6)\nreturn random.random()"
    submission, database = write_submission(tmp_path, "slow", body), tmp_path / "results.db"
    shared = ("--tasks", four_models, "--results", database, "--time-limit", 1, "--time-budget", "average")
    done = pgdl("run", submission, *shared, "--repeat", 3)  # 4 s for 16 calls of 0.6 s would not do
    assert done.returncode == 0, done.stdout
    assert Counter(row["outcome"] for row in records(database)) == {"OK": 16}


def test_of_a_hidden_task_only_that_the_claim_is_wrong(tmp_path, pgdl):
    make_task(tmp_path / "hidden", layout="full", hidden=True)
    boaster = write_claiming(tmp_path, "boaster", NOISY)
    shared = ("--tasks", tmp_path / "hidden", "--results", tmp_path / "results.db")
    done = [pgdl("run", boaster, *shared, "--repeat", 1), pgdl("score", *shared), pgdl("board", *shared)]
    assert [ended.returncode for ended in done] == [0, 0, 0], [ended.stderr for ended in done]
    said = "boaster calls itself deterministic (metadata), but another seed gave another value on a withheld task"
    for ended in done:
        printed = ended.stdout + ended.stderr
        assert said in printed
        assert "model_" not in printed
        assert "own" not in printed.replace("shown", "")
