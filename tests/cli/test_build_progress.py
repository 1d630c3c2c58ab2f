"""What a build says without a terminal: a line for each model, and at least one a minute."""

import io

import pytest
from rich.console import Console

from harness.cli import build_progress
from harness.cli.build_progress import BuildProgress
from harness.corpus.build import Event
from harness.corpus.catalogue import find_recipe
from harness.corpus.recipe import read_recipe


def test_a_line_a_minute_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr(build_progress.time, "monotonic", lambda: float(next(clock)))
    console = Console(file=io.StringIO(), width=160)
    recipe = read_recipe(find_recipe("digits_vgg"))
    metrics = {"train_acc": 1.0, "test_acc": 0.9}
    with BuildProgress(recipe, 32, console) as progress:
        for epoch in range(1, 6):
            progress(Event("look", 0, {"epoch": epoch, "cross_entropy": 1 / epoch, "accuracy": 0.5}))
        progress(Event("done", 0, {"metrics": metrics, "reached": True, "epochs": 5, "seconds": 100.0}))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "0 of 32 models done; model_0: epoch 3, cross-entropy 0.3333, accuracy 0.5000"
    assert [line.partition(" ")[0] for line in lines[1:]] == ["model_0"]
