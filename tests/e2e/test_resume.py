"""Tests that no finished call is lost after Ctrl-C, SIGKILL, or a pause."""

import re
import signal
import time
from datetime import UTC, datetime

import pytest
from matrix import full, rest
from real_runs import FASTEST, alive, descendants, names, records, wait_for, write_submission

from harness.records import Evaluation, Records
from harness.records.tables import columns_of
from harness.records.unwritten import keep
from harness.sandbox.clock import PAUSE_S

pytestmark = pytest.mark.usefixtures("sandbox")

SLOW = "import time\ntime.sleep(0.3)\nreturn float(len(model.layers))"
MODELS = {f"model_{number}" for number in range(8)}


@pytest.mark.parametrize(
    ("sent", "code"),
    [rest(signal.SIGINT, 130), full(signal.SIGTERM, 130), rest(signal.SIGHUP, 130), (signal.SIGKILL, -9)],
)
def test_an_interrupted_run_loses_nothing_and_leaves_no_process(tmp_path, competition, pgdl, start, sent, code):
    submission, database = write_submission(tmp_path, "slow", SLOW), tmp_path / "results.db"
    arguments = ("run", submission, "--tasks", competition, "--results", database, "--workers", 1, *FASTEST)
    harness = start(*arguments)
    wait_for(lambda: len(records(database)) >= 2, "two records")
    wait_for(lambda: bool(descendants(harness)), "a sandbox")
    below = descendants(harness)
    harness.send_signal(sent)
    assert harness.wait(240) == code
    wait_for(lambda: not alive(below), "the end of every sandbox")

    before = records(database)
    assert 2 <= len(before) < 8
    done = pgdl(*arguments)
    assert done.returncode == 0, done.stdout
    assert f"{len(before)} of 8 calls are recorded already" in done.stdout
    after = records(database)
    assert after[: len(before)] == before
    assert len(after) == 8
    assert {row["model"] for row in after} == MODELS


@pytest.mark.rest
@pytest.mark.parametrize("mode", ["fast", full("fresh")])
def test_a_killed_harness_takes_an_endless_submission_with_it(tmp_path, one_model, start, mode):
    endless = "import signal\nfor number in range(1, 32):\n    try: signal.signal(number, signal.SIG_IGN)\n"
    endless += "    except OSError: pass\nopen('/proc/self/comm', 'w').write('endless')\nwhile True: pass"
    submission = write_submission(tmp_path, "endless", endless)
    shared = ("--tasks", one_model, "--results", tmp_path / "r.db", *FASTEST)
    harness = start("run", submission, *shared, "--sandbox", mode)
    wait_for(lambda: "endless" in names(harness), "a submission that works")
    below = descendants(harness)
    assert alive(below)
    harness.send_signal(signal.SIGKILL)
    wait_for(lambda: not alive(below), "the end of every sandbox")


@pytest.mark.rest
def test_a_harness_that_is_stopped_during_a_call_makes_it_again(tmp_path, one_model, start):
    """The harness is suspended as by Ctrl-Z and continued as by fg; the worker runs on in between."""
    pause = PAUSE_S + 1
    body = f"import time\nopen('/proc/self/comm', 'w').write('napping')\ntime.sleep({pause})\nreturn 1.0"
    submission, database = write_submission(tmp_path, "nap", body), tmp_path / "results.db"
    harness = start("run", submission, "--tasks", one_model, "--results", database, *FASTEST)
    wait_for(lambda: "napping" in names(harness), "a call that is under the clock")
    harness.send_signal(signal.SIGSTOP)
    time.sleep(pause)
    harness.send_signal(signal.SIGCONT)
    output, _ = harness.communicate(timeout=240)
    assert harness.returncode == 0, output
    assert re.search(
        r"nap on \S+: the harness was stopped for \d+\.\d s during the call; the call is made again", output
    )
    (row,) = records(database)
    assert row["outcome"] == "OK"


@pytest.mark.rest
def test_a_record_that_was_kept_aside_counts_though_no_call_is_missing(
    tmp_path, one_model, pgdl, environment, monkeypatch
):
    submission, database = write_submission(tmp_path, "quick", "return 1.0"), tmp_path / "results.db"
    arguments = ("run", submission, "--tasks", one_model, "--results", database)
    assert pgdl(*arguments).returncode == 0
    monkeypatch.setenv("PGDL_CACHE", environment["PGDL_CACHE"])
    with Records(database) as kept_by:
        (row,) = kept_by.whole_of()
        keep(kept_by, [Evaluation(**columns_of(row) | {"value": 2.0, "finished_at": datetime.now(UTC)})])
    again = pgdl(*arguments)
    assert again.returncode == 0
    assert f"{database}: added 1 record that an earlier run kept locally" in again.stderr
    assert [row["value"] for row in records(database)] == [1.0, 2.0]
