"""Tests of `--format json`: only JSON on standard output, in every command with a result."""

import hashlib
import json
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pytest
from in_process import Pgdl

from harness.cli import as_json
from harness.outcome import Outcome
from pgdl import RunResult, Tally
from tests.board.board_examples import write_reference
from tests.ci.repositories import MEASURE as CODE
from tests.ci.repositories import Repo
from tests.cli.every_command import every_command

ROOT = Path(__file__).parents[2]

#: Commands without a result: they write files, talk to a platform, or explain.
NO_RESULT = {
    "demo", "help", "new", "task hide", "codabench bundle", "codabench collect", "codabench ingest",
    "codabench publish", "codabench score", "codabench submissions",
}  # fmt: skip


def test_every_command_with_a_result_has_it_and_the_page_tells_its_keys() -> None:
    page = (ROOT / "docs/json.md").read_text()
    found = {" ".join(words): command for words, command in every_command()}
    assert found.keys() >= NO_RESULT
    for name in found.keys() - NO_RESULT:
        (form,) = [one for one in found[name].params if one.name == "form"]
        assert isinstance(form.type, click.Choice)
        assert "json" in form.type.choices, name
        assert f"`{name}`" in page, name


@pytest.mark.usefixtures("three_submissions")
def test_a_report(pgdl: Pgdl) -> None:
    ended = pgdl("report", "weak", "half", "--format", "json")
    assert (ended.code, ended.err) == (0, "")
    weak, half = json.loads(ended.out)["submissions"]
    assert (weak["submission"], weak["rank"], round(weak["score"], 6)) == ("weak", 2, 29.541816)
    assert weak["tasks"]["toy"]["deciding"] == ["axis_a", "axis_b"]
    assert 0 < weak["tasks"]["toy"]["p_value"] <= weak["tasks"]["toy"]["adjusted_p_value"] <= 1
    assert half["summary"].startswith("No score: ")
    assert half["tasks"]["toy"]["why"] == "No score: 1 EXCEPTION: ValueError: no layer."
    assert half["tasks"]["toy"]["deciding"] is None


@pytest.mark.usefixtures("three_submissions")
def test_a_verification(pgdl: Pgdl, folder: Path) -> None:
    assert pgdl("board", "--html", "site").code == 0
    ended = pgdl("verify", "site", "--format", "json")
    found = json.loads(ended.out)
    assert (ended.code, ended.err, found["verified"], found["differences"]) == (0, "", True, [])
    assert found["n_records"] == 24
    (folder / "site/reading.html").write_text("x")
    ended = pgdl("verify", "site", "--format", "json")
    found = json.loads(ended.out)
    assert (ended.code, found["verified"], len(found["differences"])) == (1, False, 1)


@pytest.mark.parametrize("github", [True, False])
def test_a_change(pgdl: Pgdl, folder: Path, three_submissions: Path, github: bool) -> None:
    Repo(folder).commit({"submissions/mine.py": CODE.format("1.0")}, branch="main")
    more = ["--annotations", "github"] if github else []
    ended = pgdl("ci", "--base", "main", "--head", "main", "--output", "out", "--format", "json", *more)
    assert ended.code == 0, ended.err
    assert ended.out == (folder / "out/report.json").read_text()
    assert ("::stop-commands::" in ended.err) is github


def test_recipes_and_fetched_tasks(pgdl: Pgdl, folder: Path) -> None:
    listed = json.loads(pgdl("task", "recipes", "--format", "json").out)
    assert {"recipe", "models", "data", "description"} == set(listed[0])
    write_reference(folder / "made")
    with tarfile.open(folder / "tasks.tar", "w") as archive:
        archive.add(folder / "made/toy", "toy")
    digest = hashlib.sha256((folder / "tasks.tar").read_bytes()).hexdigest()
    for fetched in (True, False):
        url = (folder / "tasks.tar").as_uri()
        ended = pgdl("task", "fetch", url, "--sha256", digest, "--tasks", "tasks", "--format", "json")
        assert json.loads(ended.out) == {"tasks": "tasks", "sha256": digest, "fetched": fetched}


def test_a_run_counts_outcomes_and_withholds_times() -> None:
    tally = Tally()
    for task, outcome in (("toy", Outcome.OK), ("toy", Outcome.CRASH), ("secret", Outcome.OK)):
        planned = SimpleNamespace(
            submission=SimpleNamespace(name="mine", needs=frozenset()), task=SimpleNamespace(name=task),
            model=SimpleNamespace(has_initial_weights=True), repeat=0, key="",
        )  # fmt: skip
        call: Any = SimpleNamespace(call=planned, outcome=outcome, call_wall_s=1.5, is_starved=False)
        tally.add(call)
    plan: Any = None
    found = RunResult(plan, tally, "results.db", True, ["secret"], [], []).content
    assert (found["ok"], found["withheld"]) == (False, ["secret"])
    assert [(one["task"], one["outcomes"], one["median_seconds"]) for one in found["calls"]] == [
        ("secret", {"OK": 1}, None), ("toy", {"OK": 1, "CRASH": 1}, 1.5),
    ]  # fmt: skip


def test_numbers_have_all_digits_and_those_that_are_not_finite_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    as_json.show(
        {"a": (np.float64(0.1) + 0.2, float("nan")), "b": np.array([1, np.inf]), "c": Path("x"), 1: np.int64(2)}
    )
    assert json.loads(capsys.readouterr().out) == {"a": [0.30000000000000004, None], "b": [1.0, None], "c": "x", "1": 2}


def test_progress_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    as_json.console_of("json").print("progress")
    as_json.console_of("table").print("table")
    as_json.console_of("json", quiet=True).print("nothing")
    assert capsys.readouterr() == ("table\n", "progress\n")
