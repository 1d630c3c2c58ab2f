"""Tests of `pgdl demo`: a small task and examples in a new or empty directory."""

import ast
import contextlib
import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from in_process import Pgdl

import harness.task.demo
from harness.format.reference import read_reference
from harness.submission import find_submission
from harness.task.layout import TaskDirectory
from harness.worker.runtimes import RUNTIMES
from tests.throwaway import write_submission

WHOLE = Path(__file__).parents[2] / "task_data" / "reference_data" / "digits_nin" / "model_configs.json"


def test_it_says_what_to_do_next_and_writes_a_whole_task_with_gaps_of_a_demo_task_and_examples_that_run(
    pgdl: Pgdl, folder: Path
) -> None:
    there = folder / "pgdl-demo"
    ended = pgdl("demo")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "Written to pgdl-demo: a task of 16 models, and example submissions. Next:", "", "  cd pgdl-demo",
        "  pgdl check submissions/input_gradient", "  pgdl run submissions/input_gradient layer_margin_q1_l0 random",
        "  pgdl board",
    ]  # fmt: skip
    assert sorted(path.name for path in there.iterdir()) == ["README.md", "submissions", "task_data"]
    (files,) = TaskDirectory(there / "task_data").runnable()
    reference = read_reference(files.reference)
    assert reference.models == tuple(path.name for path in files.models)
    assert reference.grid.names == ("batch_size", "dropout", "learning_rate", "n_filters")
    assert reference.grid.is_complete
    assert len(set(reference.gaps.values())) > 8
    valid, note = pgdl("task", "validate", "pgdl-demo/task_data").lines
    assert valid == "digits_nin_small: 16 models, 4 hyperparameters, 320 training samples, outputs are logits: valid"
    assert note.startswith("digits_nin_small: note: 16 networks can show a difference of ")
    whole = json.loads(WHOLE.read_text())
    for model, entry in json.loads(files.reference.read_text()).items():
        assert entry["metrics"] == whole[model]["metrics"]
        assert whole[model]["hparams"]["n_convolutions"]["current_value"] == 3
    examples = [path for path in (there / "submissions").iterdir() if path.is_dir()]
    found = [find_submission(str(example)) for example in examples]
    assert [(one.name, one.problem) for one in found] == [(example.name, None) for example in examples]
    assert len(examples) == 6


@pytest.mark.parametrize(
    ("missing", "example", "measures"),
    [
        ("", "input_gradient", " layer_margin_q1_l0 random"),
        ("tensorflow keras2", "input_gradient_jax", ""),
        ("tensorflow keras2 jax", "input_gradient_torch", ""),
        ("tensorflow keras2 jax torch", "input_gradient", " layer_margin_q1_l0 random"),
    ],
)
def test_the_example_is_one_for_an_installed_framework(
    pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str, example: str, measures: str
) -> None:
    for name, runtime in RUNTIMES.items():
        monkeypatch.setattr(type(runtime), "missing", lambda _, name=name: [name] if name in missing.split() else [])
    check, run, _ = pgdl("demo").lines[-3:]
    assert (check, run) == (f"  pgdl check submissions/{example}", f"  pgdl run submissions/{example}{measures}")
    assert f"{check.strip()}\n{run.strip()}\n" in (folder / "pgdl-demo" / "README.md").read_text()
    pgdl("new", "mine")
    template, shown = (
        (folder / path / "complexity.py").read_text() for path in ("mine", f"pgdl-demo/submissions/{example}")
    )
    frameworks = [re.findall(r"^import (tensorflow|jax|torch)", text, re.MULTILINE) for text in (template, shown)]
    assert frameworks[0] == frameworks[1] != []


def test_an_empty_directory_is_as_good_as_none_and_is_quoted(pgdl: Pgdl, folder: Path) -> None:
    """An empty directory is filled. If it is the current directory, no `cd` is printed."""
    assert "  cd 'my demo'\n" in pgdl("demo", "my demo").out
    assert "  cd './-my demo'\n" in pgdl("demo", "--", "-my demo").out, "else it would be an option"
    (folder / "empty").mkdir()
    with contextlib.chdir(folder / "empty"):
        ended = pgdl("demo", ".")
    assert (ended.code, "  cd " in ended.out) == (0, False)
    assert (folder / "empty" / "task_data").is_dir()


def test_nothing_is_overwritten(pgdl: Pgdl, folder: Path) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "file").write_text("mine")
    for argument, problem in (
        ("full", "already exists and is not empty"), ("full/file", "not a directory"),
        ("full/file/below", "not a directory"),
    ):  # fmt: skip
        refusal = pgdl("demo", argument).refusal()
        assert refusal == f"pgdl: {argument}: {problem}; choose another directory: `pgdl demo DIR`\n"
    assert [path.name for path in folder.rglob("*")] == ["full", "file"]
    assert (folder / "full" / "file").read_text() == "mine"


def test_a_full_disk_is_one_line(folder: Path) -> None:
    """The test limits files to 5,000 bytes, as on a disk that is almost full."""
    ended = subprocess.run(
        [sys.executable, "-m", "pgdl", "demo", "there"], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("pgdl: there/task_data/")
    assert ended.stderr.endswith(": File too large; raise the limit on the size of files (ulimit -f)\n")
    assert list(folder.iterdir()) == [], "the same command works once there is space"


def test_the_same_command_works_after_ctrl_c(pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(harness.task.demo, "write_reference", Mock(side_effect=KeyboardInterrupt))
        assert pgdl("demo", "there").code == 130
    assert list(folder.iterdir()) == []
    assert pgdl("demo", "there").code == 0


def test_who_has_no_tasks_is_told_of_the_demo(pgdl: Pgdl, folder: Path) -> None:
    write_submission(folder, "mine")
    for command in ("check mine.py", "run mine.py", "board", "task validate"):
        refusal = pgdl(*command.split()).refusal()
        assert refusal.startswith("pgdl: task_data: no such directory; name")
        assert refusal.endswith("with --tasks DIR, or create a task to try with `pgdl demo`\n")
    assert "pgdl demo" not in pgdl("task", "validate", "nowhere").err, "who names another directory is not"


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
