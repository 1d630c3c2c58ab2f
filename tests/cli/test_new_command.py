"""Tests of `pgdl new`, which writes a template of a submission."""

import ast
from pathlib import Path

import pytest
from in_process import Pgdl

from harness.submission import find_submission


def test_the_template_is_a_submission_and_says_what_a_measure_is_given(pgdl: Pgdl, folder: Path) -> None:
    ended = pgdl("new", "my_measure")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "Written: my_measure/complexity.py, my_measure/metadata",
        "Next: edit my_measure/complexity.py, then pgdl check my_measure",
    ]
    submission = find_submission(str(folder / "my_measure"))
    assert (submission.name, submission.problem, submission.metadata.runtime) == ("my_measure", None, "tensorflow")
    assert set(submission.files) == {"complexity.py", "metadata"}
    module = ast.parse((folder / "my_measure" / "complexity.py").read_text())
    (function,) = (node for node in module.body if isinstance(node, ast.FunctionDef))
    assert (function.name, [argument.arg for argument in function.args.args]) == ("complexity", ["model", "dataset"])
    documentation = ast.get_docstring(function) or ""
    for word in ("initial_weights", "_last_seen_input", "tape", "dataset"):
        assert word in documentation
    assert (ast.get_docstring(module) or "").startswith("my_measure: ")


def test_folders_on_the_way_are_made_and_paths_are_quoted(pgdl: Pgdl, folder: Path) -> None:
    assert pgdl("new", "a/b/my_measure").code == 0
    assert find_submission(str(folder / "a" / "b" / "my_measure")).name == "my_measure"
    ended = pgdl("new", "my measure")
    assert ended.lines[-1] == "Next: edit 'my measure/complexity.py', then pgdl check 'my measure'"


HARNESS = f"lab/pgdl-harness@{'0' * 40}"


def test_a_leaderboards_repository(pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_RUNTIME", "jax")  # for other commands
    ended = pgdl("new", "board", "--ci", HARNESS)
    assert (ended.code, ended.err, ended.out.splitlines()[-1]) == (0, "", "Next: the steps in board/README.md")
    workflows = [path.read_text() for path in (folder / "board/.github/workflows").iterdir()]
    assert len(workflows) == 2
    assert [text for text in workflows if "lab/pgdl-harness" not in text or "uses: ./" in text] == []
    assert find_submission(str(folder / "board/submissions/mean_margin")).problem is None
    assert HARNESS in (folder / "board/README.md").read_text()
