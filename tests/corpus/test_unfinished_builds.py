"""Tests of unfinished builds, diverging models, and a missing TensorFlow: display and errors."""

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from in_process import Pgdl
from throwaway import make_task

from harness.corpus.build import Build
from harness.corpus.families import vgg
from harness.corpus.network import training_network
from harness.corpus.parts import write_record
from harness.corpus.recipe import Stop, Training, read_recipe
from harness.corpus.trainer import prepare, require_same_data
from harness.corpus.training import DivergedError, train
from harness.errors import UserError
from harness.format.shards import write_shards
from harness.importer.run import ImportOrder, require_free
from harness.shipped import shipped_directory
from harness.worker.runtimes import RUNTIMES

RECIPE = """
name = "half"
[data]
source = "digits"
[architecture]
family = "mlp"
[training]
learning_rate = 0.05
batch_size = 10
max_epochs = 60
stop = { cross_entropy = 0.3 }
[grid]
width = [16, 32]
depth = [1, 2]
"""


def begin(out: Path) -> Path:
    """Begin a build of four models; return its directory."""
    recipe = out / "half.toml"
    recipe.write_text(RECIPE)
    build = Build(read_recipe(recipe), out)
    build.begin()
    recipe.unlink()
    return build.building


def continues(out: Path) -> str:
    """Return the command that continues a build."""
    return f"pgdl task build RECIPE --output {out}"


def test_alone_it_is_named_with_the_command_that_continues_and_is_no_task(tmp_path: Path, pgdl: Pgdl) -> None:
    directory = begin(tmp_path)
    shown = pgdl("task", "show", tmp_path)
    assert shown.code == 0
    assert shown.lines[:2] == [f"half (not finished) in {directory}", f"{continues(tmp_path)} continues"]
    assert json.loads(pgdl("task", "show", tmp_path, "--format", "json").out) == [
        {"task": "half", "layout": "not finished", "directory": str(directory)}
    ]
    told = f"only tasks that pgdl task build has not finished: half; continue with: {continues(tmp_path)}\n"
    for command in ("task validate", "task list", "run num_params --tasks", "score num_params --tasks"):
        assert told in pgdl(*command.split(), tmp_path).refusal()
    refused = pgdl("task", "show", tmp_path, "--html", tmp_path / "page.html").refusal()
    assert "page.html: nothing to write: expected a task with models, found only tasks that are not" in refused
    assert f"continue with: {continues(tmp_path)}" in refused


def test_beside_a_finished_task_that_has_a_page(tmp_path: Path, pgdl: Pgdl) -> None:
    make_task(tmp_path, layout="full")
    begin(tmp_path)
    both = pgdl("task", "show", tmp_path).out
    assert "tiny (full, " in both
    assert "half (not finished)" in both
    assert "tiny" not in pgdl("task", "show", tmp_path, "--task", "half").out
    assert "half" not in pgdl("task", "show", tmp_path, "--task", "tiny").out
    unknown = pgdl("task", "show", tmp_path, "--task", "hafl")
    assert (unknown.code, "did you mean" in unknown.err) == (2, True)
    told = f"task 'half' is not finished; continue with: {continues(tmp_path)}"
    assert told in pgdl("task", "validate", tmp_path, "--task", "half").refusal()
    assert pgdl("task", "show", tmp_path, "--html", tmp_path / "page.html").code == 0


def test_a_build_of_another_recipe_is_replaced_until_its_first_model_is_finished(tmp_path: Path, pgdl: Pgdl) -> None:
    directory = begin(tmp_path)  # and ended there, for want of data
    (directory / "cell_0.unfinished").mkdir()
    (directory / "data").mkdir()
    first, changed = tmp_path / "first.toml", tmp_path / "changed.toml"
    first.write_text(RECIPE)
    changed.write_text(RECIPE.replace("0.05", "0.1"))
    Build(read_recipe(changed), tmp_path).begin()
    assert sorted(path.name for path in directory.iterdir()) == ["recipe.sha256", "recipe.toml"]
    assert (directory / "recipe.toml").read_text() == changed.read_text()
    early = Build(read_recipe(first), tmp_path)  # before the first model is finished
    (directory / "cell_0").mkdir()
    assert (
        f"{directory}: belongs to another recipe or version: expected {first}, found a recipe with another "
        "training.learning_rate; choose another --output"
        in pgdl("task", "build", first, "--output", tmp_path).refusal()
    )
    with pytest.raises(UserError, match="belongs to another recipe"):
        early.begin()
    assert (directory / "cell_0").is_dir()


def test_a_second_build_at_the_same_time_is_refused(tmp_path: Path, pgdl: Pgdl) -> None:
    directory = begin(tmp_path)
    recipe = directory / "recipe.toml"
    with Build(read_recipe(recipe), tmp_path).locked():
        refusal = pgdl("task", "build", recipe, "--output", tmp_path).refusal()
    assert f"{directory}: another pgdl task build is at work here; wait until it has ended" in refusal
    assert not directory.with_name("half.lock").exists()


def test_a_recipe_may_be_marked_as_hidden_later(tmp_path: Path) -> None:
    recipe = begin(tmp_path) / "recipe.toml"
    digest = read_recipe(recipe).digest
    recipe.write_text("hidden = true" + RECIPE)
    assert read_recipe(recipe).digest == digest, "the finished models count"


def test_the_reference_data_are_on_the_disk_before_the_records_of_the_models_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync(descriptor: int) -> None:
        assert (directory / "records/3.json").exists()
        synced.add(os.fstat(descriptor).st_ino)

    directory, synced = begin(tmp_path), set[int]()
    build = Build(read_recipe(directory / "recipe.toml"), tmp_path)
    (directory / "data").mkdir()
    for cell in build.recipe.cells:
        (directory / f"cell_{cell.number}").mkdir()
        metrics = {"train_acc": 1.0, "test_acc": 0.5}
        write_record(directory, str(cell.number), {"cell": cell.number, "metrics": metrics})
    monkeypatch.setattr(os, "fsync", sync)
    build.finish()
    assert not directory.exists()
    assert {(build.reference / name).stat().st_ino for name in ("model_configs.json", "training.json")} <= synced


@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="no second disk")
def test_a_place_to_which_no_task_can_be_moved_is_refused_before_any_training(tmp_path: Path) -> None:
    (tmp_path / "input_data").symlink_to("/dev/shm")
    with pytest.raises(UserError, match=r"input_data: is on another disk: expected the disk of .*; make the whole"):
        begin(tmp_path)
    with pytest.raises(UserError, match="input_data: is on another disk"):
        require_free(ImportOrder(tmp_path / "models.csv", "x.npz", None, tmp_path, "mine"))


def test_a_trainer_that_is_killed_costs_only_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Build(read_recipe(begin(tmp_path) / "recipe.toml"), tmp_path)
    monkeypatch.setattr("harness.corpus.build.PROGRAM", "tests.corpus.dying_trainer")
    kills = itertools.count()  # the kernel's counter
    monkeypatch.setattr("harness.processes.client.memory_kills", lambda: next(kills))
    _, *events = build.train([0, 1], workers=1)
    assert [(event.cell, event.kind) for event in events] == [(0, "failed"), (1, "done")]
    assert events[0].details == {"message": "the process ended with SIGKILL, because memory was short"}


def test_a_recipe_that_is_changed_meanwhile_trains_no_model(tmp_path: Path) -> None:
    recipe = tmp_path / "half.toml"
    recipe.write_text(RECIPE)
    digest = read_recipe(recipe).digest
    recipe.write_text(RECIPE.replace("[16, 32]", "[32, 64]"))
    with pytest.raises(UserError, match=r"half\.toml: changed during the build; undo the change to continue"):
        prepare("tensorflow", str(recipe), digest, str(tmp_path))


@pytest.mark.parametrize("change", ["image", "label", "number"])
def test_data_that_were_changed_since_the_build_began_train_no_model(change: str, tmp_path: Path) -> None:
    inputs, labels = np.random.default_rng(0).random((5, 4, 4, 1), np.float32), np.arange(5, dtype=np.int32) % 2
    require_same_data(tmp_path, {"train": (inputs, labels)})  # nothing is written yet
    write_shards(tmp_path / "data" / "train", inputs, labels, 3)
    require_same_data(tmp_path, {"train": (inputs + np.float32(1e-6), labels)})
    number = 4 if change == "number" else 5
    inputs, labels = inputs[:number].copy(), labels[:number].copy()
    if change == "image":
        inputs[3] = 1 - inputs[3]
    if change == "label":
        labels[3] = 0
    with pytest.raises(UserError, match="data: other train data than the recipe has now; restore the data to continue"):
        require_same_data(tmp_path, {"train": (inputs, labels)})


@pytest.mark.rest
@pytest.mark.filterwarnings("ignore:.*shuffle=True:UserWarning")
def test_weights_that_are_no_numbers_are_seen_though_pooling_hides_them() -> None:
    settings = Training(learning_rate=0.1, batch_size=5, max_epochs=1, stop=Stop(cross_entropy=0.1), seed=1)
    model = training_network(vgg(2, n_blocks=1, n_filters=4), (8, 8, 1), 0.0, "glorot_uniform")
    for weights in model.layers[1].weights:  # those of the first convolution
        weights.assign(np.full(weights.shape, np.nan))
    inputs, labels = np.ones((10, 8, 8, 1), np.float32), np.arange(10, dtype=np.int32) % 2
    seen: list[object] = []
    with pytest.raises(DivergedError, match="weights are NaN or infinite after epoch 1"):
        train(model, inputs, labels, settings, None, seen.append)
    assert seen == []


def test_it_is_one_line_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(RUNTIMES["tensorflow"]), "distributions", ("no-such-package",))
    recipe = read_recipe(shipped_directory("task_data") / "recipes" / "digits_nin.toml")
    with pytest.raises(UserError, match=r"trained in TensorFlow; not installed: no-such-package; .*pip install"):
        Build(recipe, tmp_path).begin()
    assert list(tmp_path.iterdir()) == []
