"""Tests of submissions with flaws that can be found without a model: each is refused, the others are called."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from in_process import Ended, Pgdl
from throwaway import make_task, write_submission

import pgdl as api
from harness.errors import UserError
from harness.records import Records
from harness.sandbox.kinds.kind import library_versions
from harness.worker.runtimes import RUNTIMES
from tests.submission.submission_files import write_folder, write_zip


def nodata(model: Any) -> float:
    return 1.0


def test_run_and_check_name_the_same_flaw_and_the_file_that_has_it(pgdl: Pgdl, folder: Path) -> None:
    for form, named, source, flaw in (
        ("mine.py", "mine.py", "def complexity(model, dataset:\n", "line 1: '(' was never closed"),
        ("mine", "mine/complexity.py", "def complexity(model, dataset:\n", "line 1: '(' was never closed"),
        ("mine.zip", "mine.zip: complexity.py", "def complexity(:\n", "line 1: invalid syntax"),
        ("mine.py", "mine.py", "def measure(model, dataset):\n    return 1.0\n",
         "expected a function complexity(model, dataset), found measure"),
        ("mine.py", "mine.py", "def complexity(model):\n    return 1.0\n",
         "expected complexity(model, dataset), found complexity(model)"),
    ):  # fmt: skip
        write_folder(folder, {"mine/complexity.py": source.encode(), "mine.py": source.encode()})
        write_zip(folder / "mine.zip", [("complexity.py", source.encode())])
        ended = pgdl("check", form)
        assert (ended.code, ended.lines[0]) == (1, f"INVALID_SUBMISSION: {folder / named}: {flaw}")
        assert pgdl("run", form) == (2, "", f"pgdl: {folder / named}: {flaw}\n")
    assert [file.name for file in folder.iterdir() if file.suffix == ".db"] == []


def test_metadata_each_of_several_submissions_and_functions_are_looked_at(pgdl: Pgdl, folder: Path) -> None:
    (folder / "mine").mkdir()
    write_submission(folder / "mine", "complexity")
    (folder / "mine/metadata").write_text("runtime: tensorflw\n")
    assert pgdl("run", "mine").refusal().startswith(f"pgdl: {folder / 'mine'}: metadata: runtime: expected ")
    for name in ("a.py", "b.py"):
        (folder / name).write_text("def complexity(:\n")
    ended = pgdl("run", "a.py", "b.py")
    flaws = [f"{folder / name}: line 1: invalid syntax" for name in ("a.py", "b.py")]
    assert (ended.code, ended.err) == (2, "pgdl: " + "\n".join(flaws) + "\n")
    expected = r"function nodata: .*expected complexity\(model, dataset\), found nodata\(model\)"
    with pytest.raises(UserError, match=expected):
        api.run(nodata)


@pytest.mark.rest
@pytest.mark.usefixtures("known_shapes", "sandbox")
def test_a_class_is_one_command(pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of a whole class run in one command, which lists refused files with reasons.

    A changed file replaces its own submission. A file of the same name in another directory is refused.
    """
    make_task(folder, n_models=1)
    (folder / "drop" / "late").mkdir(parents=True)
    for name in ("anna", "bert", "Bert", "num_params", "eve", "Jürg", "Jörg"):
        write_submission(folder / "drop", name)
    (folder / "drop/eve.py").rename(folder / "drop/eve.PY")
    for name in ("empty.py", "notebook.ipynb"):
        (folder / "drop" / name).touch()
    (folder / "drop/link.py").symlink_to("anna.py")
    (folder / "drop/in.jax").mkdir()
    write_submission(folder / "drop/in.jax", "complexity")
    (folder / "drop/in.jax/metadata").write_text("runtime: jax\n")
    monkeypatch.setattr(RUNTIMES["jax"], "distributions", ("no-such-package",))
    library_versions.cache_clear()

    def run(*files: Path) -> Ended:
        return pgdl("run", *files, "--as-files", "--tasks", "tiny", "--format", "json")

    def requested() -> Counter[str]:
        with Records("results.db") as records:
            return Counter(request.submission for request in records.requests())

    ended = run(*sorted((folder / "drop").glob("*.*")))
    assert ended.code == 1
    refused = json.loads(ended.out)["refused"]
    assert [Path(line.partition(": ")[0]).name for line in refused] == [
        "eve.PY", "link.py", "notebook.ipynb", "num_params.py", "empty.py", "in.jax", "Bert.py",
        "bert.py",
    ]  # fmt: skip
    assert [line for line in ended.err.splitlines() if "left out" in line] == [f"pgdl: left out: {r}" for r in refused]
    assert requested() == {"anna": 1, "Jurg": 1, "Jorg": 1}

    write_submission(folder / "drop/late", "anna", "return 2.0")
    ended = run(folder / "drop/late/anna.py")
    assert (ended.code, ended.out) == (2, "")
    assert "another submission is called 'anna': " in ended.err
    write_submission(folder / "drop", "anna", "return 3.0")
    ended = run(*(folder / "drop").rglob("anna.py"))
    assert (ended.code, len(json.loads(ended.out)["refused"])) == (1, 1)
    assert requested() == {"anna": 2, "Jurg": 1, "Jorg": 1}
