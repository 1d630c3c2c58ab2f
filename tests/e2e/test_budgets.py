"""The two ways in which the seconds of --time-limit add up."""

import pytest
from real_runs import records, write_submission


@pytest.mark.rest
def test_average_lets_one_call_take_longer_than_its_share(tmp_path, competition, pgdl, sandbox):
    body = (
        "import time\nslow = model.layers[0].units == 4 and len(model.layers) == 2\ntime.sleep(1.5 * slow)\nreturn 1.0"
    )
    submission, database = write_submission(tmp_path, "uneven", body), tmp_path / "results.db"
    done = pgdl(
        "run", submission, "--tasks", competition, "--results", database, "--time-limit", 1, "--time-budget", "average",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert max(row["call_wall_s"] for row in records(database)) > 1.5


def test_a_used_up_budget_fails_the_remaining_calls_and_the_score(tmp_path, competition, pgdl, sandbox):
    submission = write_submission(tmp_path, "slow", "import time\ntime.sleep(1)\nreturn 1.0")
    database = tmp_path / "results.db"
    shared = ("--tasks", competition, "--results", database)
    done = pgdl("run", submission, *shared, "--time-limit", 0.3, "--time-budget", "average")
    assert done.returncode == 1
    rows = records(database)
    outcomes = [row["outcome"] for row in rows]
    assert outcomes.count("OK") in (1, 2)  # the budget is 2.4 s
    assert set(outcomes) == {"OK", "TIMEOUT"}
    assert any("not started" in row["message"] for row in rows)
    assert "time budget of 2.4 s (8 models, 0.3 s each on average)" in rows[-1]["message"]
    scored = pgdl("score", *shared, "--format", "json")
    assert '"score": 0.0' in scored.stdout
    assert scored.returncode == 1
