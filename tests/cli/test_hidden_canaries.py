"""Tests that no output of a command on a hidden task contains the task's hyperparameters, gaps or models."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from in_process import Pgdl, Record

from tests.board.board_examples import GAPS, rows
from tests.throwaway import edit_json, make_task, write_submission

pytestmark = pytest.mark.rest

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


def leaks(text: str) -> list[str]:
    return [canary for canary in CANARIES if canary in text]


def said(pgdl: Pgdl, command: str) -> str:
    ended = pgdl(*command.split())
    return str(ended.out + ended.err)


@pytest.mark.parametrize("damage", [None, drop_a_model, spoil])
@pytest.mark.usefixtures("known_shapes")
def test_commands_on_tasks(damage: Callable[[Path], None] | None, secret: Path, pgdl: Pgdl, folder: Path) -> None:
    shown = said(pgdl, "task show --withhold never --task secret")
    assert leaks(shown)[:2] == ["dropout_canary", "4713"]
    if damage is not None:
        damage(secret)
    write_submission(folder, "mine")
    for form in ("table", "json"):
        for command in ("list", "show", "validate"):
            line = f"task {command} --format {form}"
            assert leaks(said(pgdl, line).replace("open", "")) in ([], ["model_3"])
            assert leaks(said(pgdl, line if command == "list" else f"{line} --task secret")) == []
    if damage is not None:
        for command in ("run", "check"):
            text = said(pgdl, f"{command} mine.py --task secret")
            assert leaks(text) == []
            assert "problems are withheld" in text
        assert "model_3" in said(pgdl, "task validate --task secret --withhold never")


@pytest.mark.parametrize("damage", [None, drop_a_model, spoil])
def test_scores(damage: Callable[[Path], None] | None, secret: Path, pgdl: Pgdl, folder: Path, record: Record) -> None:
    record(rows("mine", GAPS, ["open", "secret"]))
    for part in (folder / "task_data").glob("*/*/"):
        shutil.rmtree(part)  # of the models, which these records are not of
    if damage is not None:
        damage(secret)
    texts = [said(pgdl, f"board --format {form}") for form in ("table", "csv", "json", "markdown", "latex")]
    texts += [said(pgdl, f"score --format {form}") for form in ("table", "json")]
    texts += [said(pgdl, "report mine --html reports"), said(pgdl, "board --html site --output files")]
    written = [file for where in ("site", "files", "reports") for file in (folder / where).rglob("*.*")]
    assert bool(written) == (damage is not spoil)
    for file in written:
        if "open" not in file.read_text(errors="replace"):
            texts.append(file.read_text(errors="replace"))
    of_secret = "\n".join(texts)
    assert [canary for canary in CANARIES[:3] if canary in of_secret] == []
    if damage is drop_a_model:
        assert "the reason is withheld" in of_secret
        board = json.loads(pgdl("board", "--format", "json").out)
        assert board["rows"][0]["tasks"]["secret"]["undefined"] == "the reason is withheld, since the task is hidden"
