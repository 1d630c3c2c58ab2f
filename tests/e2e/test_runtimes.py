"""Tests of one measure written for three frameworks: equal values and scores, on one board."""

import json

import pytest
from e2e.real_runs import records

from harness.shipped import shipped_directory
from harness.worker.runtimes import RUNTIMES

EXAMPLES = {"tensorflow": "input_gradient", "jax": "input_gradient_jax", "torch": "input_gradient_torch"}

MISSING = any(RUNTIMES[name].missing() for name in EXAMPLES)
pytestmark = [pytest.mark.skipif(MISSING, reason="not every framework is installed"), pytest.mark.rest]


def test_the_worked_submissions_agree_and_stand_side_by_side_with_one_score(competition, tmp_path, pgdl, sandbox):
    submissions = [shipped_directory("submissions") / name for name in EXAMPLES.values()]
    shared = ("--tasks", competition, "--results", tmp_path / "results.db")
    done = pgdl("run", *submissions, *shared)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = records(tmp_path / "results.db")
    values = {name: {row["model"]: row["value"] for row in rows if row["runtime"] == name} for name in EXAMPLES}
    assert [len(found) for found in values.values()] == [8, 8, 8]
    for name in ("jax", "torch"):
        assert values[name] == pytest.approx(values["tensorflow"], rel=1e-4), name
    for row in rows:
        runtime = RUNTIMES[row["runtime"]]
        assert all(f"{package} " in row["versions"] for package in runtime.distributions)
        assert json.loads(row["environment"])["device"] == "cpu"
    board = {row["submission"]: row for row in json.loads(pgdl("board", *shared, "--format", "json").stdout)["rows"]}
    scores = [board[name]["score"] for name in EXAMPLES.values()]
    assert scores == pytest.approx([scores[0]] * 3, rel=1e-9), "the same order of the models"
    assert scores[0] > 0
