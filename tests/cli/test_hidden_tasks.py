"""Tests of hidden tasks: what `pgdl` shows of them, commands that refuse them, and what no output contains."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from in_process import Pgdl, Record

from harness.api import execution
from harness.api.progress import SILENT
from harness.errors import UserError
from harness.outcome import WITHHELD, Outcome
from harness.task.layout import TaskDirectory
from pgdl import Execution
from tests.board.board_examples import GAPS, MEASURE, MODELS, failed, rows, write_reference
from tests.throwaway import edit_json, make_task, write_submission

CHOSEN = Execution(time_limit_s=1.0, memory_bytes=2**30, workers=1)


@pytest.fixture
def hidden(folder: Path, record: Record) -> Path:
    """Records of a successful submission and of a submission with a crash, on a hidden task."""
    record([*rows("mine"), *rows("broken"), failed("broken", "model_4", Outcome.CRASH)])
    return write_reference(folder / "task_data", hidden=True)


def test_scores_of_records_and_predictions_are_rounded_say_so_and_name_no_model(
    pgdl: Pgdl, hidden: Path, folder: Path
) -> None:
    ended = pgdl("score", "mine")
    assert ended.lines[0] == "mine: score 29.5"
    assert ended.lines[2].split() == ["toy", "29.5", "-", "-", "-", "8", "-"]
    assert "hidden: toy. Scores there" in " ".join(ended.out.split())
    found = json.loads(pgdl("score", "mine", "--format", "json").out)
    assert (found["score"], found["rounded"], found["tasks"]["toy"]["official"]) == (29.5, ["toy"], 29.5)
    (folder / "mine").mkdir()
    (folder / "mine" / "toy.predict").write_text(json.dumps(dict(zip(MODELS, MEASURE, strict=True))))
    ended = pgdl("score", "--predictions", "mine", "--reference", hidden)
    assert ended.out.startswith("mine: score 29.5\n")
    for command in ("score", "board", "board --format json", "score --format json"):
        assert "model_" not in pgdl(*command.split()).out


def test_the_organiser_can_see_all_digits_with_a_warning_that_names_no_open_task(pgdl: Pgdl, hidden: Path) -> None:
    assert pgdl("score", "mine", "--withhold", "never").out.startswith("mine: score 29.5418\n")
    assert "29.54" in pgdl("board", "--withhold", "never").out
    assert "29.54" not in pgdl("board").out
    write_reference(hidden, "other")
    assert "in full" not in pgdl("board", "--withhold", "never", "--task", "other").err


@pytest.mark.usefixtures("hidden")
def test_a_warning_names_the_hidden_tasks_that_are_shown_in_full(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    says = "pgdl: hidden tasks are shown in full, because of {}: toy\n"
    tasks = ["task list", "task show", "task validate"]
    for command in ("score", "board", "report", "results", "compare --recorded", *tasks):
        ended = pgdl(*command.split(), "--withhold", "never")
        assert ended.err.startswith(says.format("--withhold never")), command
    monkeypatch.setenv("PGDL_WITHHOLD", "never")
    assert pgdl("score").err.startswith(says.format("PGDL_WITHHOLD=never"))
    assert "in full" not in pgdl("score", "--withhold", "auto").err


def test_a_note_names_the_tasks_that_have_lost_their_mark(pgdl: Pgdl, folder: Path, record: Record) -> None:
    """A copy of the task has no mark, so all digits are shown; only the records say that the task was hidden."""
    write_reference(folder / "task_data")
    hidden = [*rows("mine", message=WITHHELD), *rows("depth", is_baseline=True, message=WITHHELD)]
    record([*hidden, failed("broken", "model_0", Outcome.PROTOCOL, message=WITHHELD)])
    note = "shown in full, though hidden when the calls were made: toy; to hide a task again: `pgdl task hide TASK`"
    for command in ("score", "board", "report mine", "compare --recorded --measures depth"):
        assert note in " ".join(pgdl(*command.split()).out.split()), command
    for withhold in ("never", "always"):
        assert note not in " ".join(pgdl("score", "--withhold", withhold).out.split())


def test_scores_of_tasks_that_are_not_marked_can_be_rounded_as_well(pgdl: Pgdl, folder: Path, record: Record) -> None:
    write_reference(folder / "task_data")
    record(rows("mine"))
    assert pgdl("score", "--withhold", "always").out.startswith("mine: score 29.5\n")
    assert pgdl("results", "--withhold", "always").err.startswith("toy: records are withheld (8 OK); ")
    make_task(folder / "models")
    page = pgdl("task", "show", "models", "--withhold", "always", "--html", "page.html")
    assert "all tasks are withheld" in page.refusal()


def test_hidden_tasks_never_run_without_a_sandbox(pgdl: Pgdl, folder: Path) -> None:
    make_task(folder / "task_data", hidden=True)
    write_submission(folder, "mine")
    for command, withhold in product(("run", "check"), ("auto", "never")):
        ended = pgdl(command, "mine.py", "--unsafe-no-sandbox", "--withhold", withhold)
        *warnings, refusal = ended.err.splitlines()
        assert (ended.code, ended.out) == (2, "")
        assert [line.rpartition(": ")[2] for line in warnings] == ["tiny"] * (withhold == "never")
        assert "--unsafe-no-sandbox: not with hidden tasks (tiny)" in refusal
    assert not (folder / "results.db").exists()


def test_no_weaker_sandbox_is_taken_unasked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(folder, hidden=True)
    tiny = TaskDirectory(folder).runnable()
    monkeypatch.setattr("harness.sandbox.kinds.landlock.Landlock.problem", lambda self: None)
    monkeypatch.setattr("harness.sandbox.kinds.fresh.Fresh.problem", lambda self: UserError("no bubblewrap here"))
    assert execution.prepare(CHOSEN, (), SILENT)[1].isolation == "landlock"
    with pytest.raises(UserError, match="no bubblewrap here"):
        execution.prepare(CHOSEN, tiny, SILENT)
    asked = replace(CHOSEN, sandbox="landlock")
    assert execution.prepare(asked, tiny, SILENT)[1].isolation == "landlock"


def test_a_task_is_hidden_by_a_command(pgdl: Pgdl, folder: Path, record: Record) -> None:
    write_reference(folder / "task_data")
    record(rows("mine"))
    assert pgdl("score").out.startswith("mine: score 29.5418\n")
    mark = Path("task_data/toy/metadata")
    assert pgdl("task", "hide", "toy").out == f"toy is hidden from now on: wrote {mark}\n"
    assert pgdl("score").out.startswith("mine: score 29.5\n")
    listed = pgdl("results", "--format", "json")
    assert (listed.out, listed.err.partition(";")[0]) == ("", "toy: records are withheld (8 OK)")
    assert pgdl("task", "hide", "toy").out == "toy is hidden already.\n"
    assert "no task 'tyo'" in pgdl("task", "hide", "tyo").err


#: A hyperparameter, one of its values, and a gap, which stand nowhere but in the reference data; and a model.
CANARIES = ("dropout_canary", "4713", "0.7318", "model_3")


@pytest.fixture
def secret(folder: Path) -> Path:
    """Make an open task and a hidden task; return the reference data of the hidden task."""
    make_task(folder / "task_data", name="open")
    make_task(folder / "task_data", name="secret", hidden=True, layout="flat", gaps=[*GAPS[:7], 0.7318])
    reference = folder / "task_data" / "secret" / "model_configs.json"

    def rename(content: dict[str, Any]) -> None:
        for entry in content.values():
            of_width = entry["hparams"].pop("width")
            values = [{4: 4713}.get(value, value) for value in of_width["possible_values"]]
            current = {4: 4713}.get(of_width["current_value"], of_width["current_value"])
            entry["hparams"]["dropout_canary"] = {"possible_values": values, "current_value": current}

    edit_json(reference, rename)
    return reference


def drop_a_model(reference: Path) -> None:
    """Remove a model from the reference data: the grid is then incomplete, and the model's directory has no entry."""
    edit_json(reference, lambda content: content.pop("3"))


def spoil(reference: Path) -> None:
    """Write an invalid accuracy into the reference data."""
    edit_json(reference, lambda content: content["3"]["metrics"].update(train_acc=4713.0))


@pytest.mark.rest
@pytest.mark.parametrize("damage", [lambda reference: None, drop_a_model, spoil])
@pytest.mark.usefixtures("known_shapes")
def test_no_output_has_hyperparameters_gaps_or_models(
    damage: Callable[[Path], None], secret: Path, pgdl: Pgdl, folder: Path, record: Record
) -> None:
    def leaks(*commands: str) -> list[str]:
        ended = [pgdl(*command.split()) for command in commands]
        return [canary for canary in CANARIES if any(canary in one.out + one.err for one in ended)]

    assert leaks("task show --withhold never --task secret")[:2] == ["dropout_canary", "4713"]
    damage(secret)
    write_submission(folder, "mine")
    for form in ("table", "json"):
        for command in ("list", "show", "validate"):
            line = f"task {command} --format {form}"
            assert leaks(line) in ([], ["model_3"]), "of the open task"
            assert leaks(line if command == "list" else f"{line} --task secret") == []
    if damage in (drop_a_model, spoil):
        for command in ("run", "check"):
            assert leaks(f"{command} mine.py --task secret") == []
            assert "problems are withheld" in pgdl(command, "mine.py", "--task", "secret").err
        assert "model_3" in leaks("task validate --task secret --withhold never")

    record(rows("mine", GAPS, ["open", "secret"]))
    for part in (folder / "task_data").glob("*/*/"):
        shutil.rmtree(part)  # of the models, which these records are not of
    boards = [f"board --format {form}" for form in ("table", "csv", "json", "markdown", "latex")]
    others = ["score", "score --format json", "report mine --html reports", "board --html site --output files"]
    assert leaks(*boards, *others) in ([], ["model_3"])
    written = [file for where in ("site", "files", "reports") for file in (folder / where).rglob("*.*")]
    assert bool(written) == (damage is not spoil)
    texts = [text for file in written if "open" not in (text := file.read_text(errors="replace"))]
    assert [canary for canary in CANARIES[:3] if canary in str(texts)] == []
    if damage is drop_a_model:
        board = json.loads(pgdl("board", "--format", "json").out)
        assert board["rows"][0]["tasks"]["secret"]["undefined"] == "the reason is withheld, since the task is hidden"
