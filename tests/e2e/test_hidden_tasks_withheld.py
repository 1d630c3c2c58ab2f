"""Tests of what a submission prints on a hidden model: only an organiser can see this output."""

from pathlib import Path

import pytest
from real_runs import records, write_submission
from throwaway import make_task

pytestmark = pytest.mark.usefixtures("sandbox")

#: It returns a number that nobody is to see either, and fails on the models with one hidden layer.
BODY = """
weights = model.get_weights()[0]
secret = f"SECRET{float(abs(weights).sum()):.6f}"
print(secret)
if len(model.layers) == 2:
    raise ValueError(secret)
return 4711.25 + weights.shape[1]
"""

#: Texts that would reveal a model: its texts, its value, its name, and the outcome of its call.
TELLING = ("SECRET", "ValueError", "4711", "4715", "4717", "model_")


@pytest.fixture(scope="module")
def hidden(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("hidden")
    make_task(directory, layout="full", hidden=True)
    return directory


def stored(directory: Path) -> bytes:
    files = [path for path in directory.rglob("*") if path.is_file() and path.suffix != ".py"]
    assert {path.suffix for path in files} >= {".db", ".md", ".csv", ".json"}
    return b"".join(path.read_bytes() for path in files)


def test_run_and_board(tmp_path, hidden, pgdl):
    submission = write_submission(tmp_path, "talker", BODY)
    constant = write_submission(tmp_path, "quiet", "print('SECRET')\nreturn 4711.0")
    shared = ("--tasks", hidden, "--results", tmp_path / "results.db")
    commands = [
        ("run", submission, constant, *shared),
        ("run", submission, constant, *shared),  # everything is recorded already
        ("score", *shared),
        ("score", *shared, "--format", "json"),
        ("board", *shared, "--output", tmp_path / "board"),
    ]
    done = [pgdl(*command) for command in commands]
    assert [ended.returncode for ended in done] == [1, 1, 1, 1, 0], [ended.stderr for ended in done]
    printed = "".join(ended.stdout + ended.stderr for ended in done)
    rows = records(tmp_path / "results.db")
    assert sorted(row["outcome"] for row in rows if row["submission"] == "talker") == ["EXCEPTION"] * 4 + ["OK"] * 4
    assert {row["value"] for row in rows} == {None, 4711.0, 4715.25, 4717.25}, "scoring needs it"
    assert [text for text in TELLING if text in printed] == []
    assert b"SECRET" not in stored(tmp_path)
    assert {(row["message"], row["output_tail"]) for row in rows} == {("withheld", "")}
    assert "4 EXCEPTION" in printed


@pytest.mark.rest
@pytest.mark.parametrize("withhold", ["auto", "never"])
def test_check(tmp_path, hidden, pgdl, withhold):
    submission = write_submission(tmp_path, "talker", BODY)
    done = pgdl("check", submission, "--tasks", hidden, "--models", 8, "--withhold", withhold)
    assert done.returncode == 1
    told = {text for text in TELLING if text in done.stdout + done.stderr}
    assert told >= {"SECRET", "ValueError", "model_"} if withhold == "never" else told == set()
    if withhold == "auto":
        assert done.stdout.splitlines()[0] == "tiny: 4 EXCEPTION, 4 OK"
        assert "talker does not pass" in done.stdout
    passed = pgdl("check", "depth", "--tasks", hidden, "--withhold", withhold).stdout
    assert ("A full run: " in passed) is (withhold == "never"), "a forecast tells sizes"
