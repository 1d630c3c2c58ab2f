"""Tests of submissions with flaws that can be found without a model: they are refused before the first call."""

from pathlib import Path

import pytest
from in_process import Pgdl


@pytest.mark.parametrize(
    ("source", "flaw"),
    [
        ("def complexity(model, dataset:\n", "line 1: '(' was never closed"),
        (
            "def measure(model, dataset):\n    return 1.0\n",
            "expected a function complexity(model, dataset), found measure",
        ),
        ("def complexity(model):\n    return 1.0\n", "expected complexity(model, dataset), found complexity(model)"),
    ],
)
def test_run_and_check_name_the_same_flaw_and_nothing_is_recorded(
    pgdl: Pgdl, folder: Path, source: str, flaw: str
) -> None:
    (folder / "mine.py").write_text(source)
    assert pgdl("check", "mine.py").lines[0] == f"INVALID_SUBMISSION: {folder / 'mine.py'}: {flaw}"
    ended = pgdl("run", "mine.py")
    assert (ended.code, ended.out, ended.err) == (2, "", f"pgdl: {folder / 'mine.py'}: {flaw}\n")
    assert [file.name for file in folder.iterdir() if file.suffix == ".db"] == []


def test_metadata_and_each_of_several_submissions_are_looked_at(pgdl: Pgdl, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine/complexity.py").write_text("def complexity(model, dataset):\n    return 1.0\n")
    (folder / "mine/metadata").write_text("runtime: tensorflw\n")
    assert pgdl("run", "mine").refusal().startswith(f"pgdl: {folder / 'mine'}: metadata: runtime: expected ")
    for name in ("a.py", "b.py"):
        (folder / name).write_text("def complexity(:\n")
    ended = pgdl("run", "a.py", "b.py")
    flaws = [f"{folder / name}: line 1: invalid syntax" for name in ("a.py", "b.py")]
    assert (ended.code, ended.err) == (2, "pgdl: " + "\n".join(flaws) + "\n")
