"""Tests of the check of a slow measure: a verdict from parts of the data, and its explanation."""

import json
from pathlib import Path
from typing import Any

import pytest
from real_runs import write_submission
from throwaway import make_task

from harness.api import checks
from harness.cli import check_table
from harness.execution import partial_calls

pytestmark = [pytest.mark.rest, pytest.mark.usefixtures("sandbox")]

#: Seconds per example of these measures.
EACH_S = 0.004


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (checks, check_table):
        monkeypatch.setattr(module, "WHOLE_CALL_S", 2.0)
    monkeypatch.setattr(partial_calls, "FIRST_S", 4.0)


@pytest.fixture(scope="module")
def many_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_task(tmp_path_factory.mktemp("tasks"), n_train=1500, n_models=4).parent


def check(pgdl: Any, tasks: Path, file: Path, *more: str) -> Any:
    return pgdl("check", file, "--tasks", tasks, "--models", "2", *more)


def test_a_measure_that_reads_all_examples_is_tried_on_parts(tmp_path: Path, many_examples: Path, pgdl: Any) -> None:
    body = f"import time\nnumber = sum(1 for _ in dataset)\ntime.sleep({EACH_S} * number)\nreturn number"
    done = check(pgdl, many_examples, write_submission(tmp_path, "thorough", body))
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("on 512 of 1,500 examples") == 2
    assert "thorough passes" in done.stdout
    assert "A full run: 4 models, between" in done.stdout
    said = " ".join(done.stdout.split())
    assert (
        "On 2 models, whole calls would have taken longer than 2 s: values and times are of calls on up to 512" in said
    )
    content = json.loads(check(pgdl, many_examples, tmp_path / "thorough.py", "--format", "json").stdout)
    assert [(call["value"], call["examples"]) for call in content["calls"]] == [(512.0, 512)] * 2
    assert content["forecast"]["seconds"] > content["forecast"]["at_least_seconds"] > 0


def test_a_measure_that_takes_long_whatever_it_reads_gets_no_verdict(
    tmp_path: Path, many_examples: Path, pgdl: Any
) -> None:
    slow = write_submission(tmp_path, "slow", "import time\ntime.sleep(5)\nreturn 1.0")
    done = check(pgdl, many_examples, slow, "--time-limit", "60")
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    running = "a call was still running after 4 s on 32 of 1,500 training examples, at complexity.py:3"
    why = f"whole calls were stopped after 2 s, and {running}"
    assert f"slow: no verdict: {why}. pgdl check --whole-calls waits for whole calls." in said
    whole = check(pgdl, many_examples, slow, "--whole-calls")
    assert (whole.returncode, "slow passes" in whole.stdout) == (0, True)
    assert "training examples" not in whole.stdout


def test_a_measure_for_which_every_part_is_too_small_gets_no_verdict(
    tmp_path: Path, many_examples: Path, pgdl: Any
) -> None:
    body = (
        f"import time\nnumber = sum(1 for _ in dataset)\ntime.sleep({EACH_S} * number)\n"
        'assert number > 1000, "too few"\nreturn 1.0'
    )
    picky = write_submission(tmp_path, "picky", body)
    done = check(pgdl, many_examples, picky)
    said = " ".join(done.stdout.split())
    assert (done.returncode, "does not pass" in said) == (1, False)
    assert "EXCEPTION: AssertionError: too few (on 512 of 1,500 training examples)" in said
    parts = "calls on parts of the training data failed, although whole calls may succeed"
    why = f"whole calls were stopped after 2 s, and {parts}"
    assert f"picky: no verdict: {why}. pgdl check --whole-calls waits for whole calls." in said
    assert json.loads(check(pgdl, many_examples, picky, "--format", "json").stdout)["undecided"]


def test_a_time_limit_that_is_shorter_is_the_verdict(tmp_path: Path, many_examples: Path, pgdl: Any) -> None:
    slow = write_submission(tmp_path, "slow", "import time\ntime.sleep(5)\nreturn 1.0")
    done = check(pgdl, many_examples, slow, "--time-limit", "1")
    assert (done.returncode, "TIMEOUT" in done.stdout) == (1, True)
    assert "slow does not pass" in done.stdout
