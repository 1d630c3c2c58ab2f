"""Tests of `--format json`: only JSON on standard output, in every command with a result."""

import hashlib
import json
import tarfile
from pathlib import Path

import click
import numpy as np
import pytest
from in_process import Pgdl

from harness.cli import as_json
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


def test_a_change(pgdl: Pgdl, folder: Path, three_submissions: Path) -> None:
    Repo(folder).commit({"submissions/mine.py": CODE.format("1.0")}, branch="main")
    for more in ([], ["--annotations", "github"]):
        ended = pgdl("ci", "--base", "main", "--head", "main", "--output", "out", "--format", "json", *more)
        assert ended.code == 0, ended.err
        assert ended.out == (folder / "out/report.json").read_text()
        assert ("::stop-commands::" in ended.err) is bool(more)


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
