"""Tests of builds that do not begin, are not finished, or are disturbed: display and errors."""

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from in_process import Ended, Pgdl
from throwaway import make_task

from harness.corpus.build import Build
from harness.corpus.families import FAMILIES, vgg
from harness.corpus.network import training_network
from harness.corpus.parts import write_record
from harness.corpus.recipe import Stop, Training, read_recipe
from harness.corpus.trainer import prepare, require_same_data, smallest_side
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


def begin(out: Path) -> Build:
    """Begin a build of four models."""
    recipe = out / "half.toml"
    recipe.write_text(RECIPE)
    build = Build(read_recipe(recipe), out)
    build.begin()
    recipe.unlink()
    return Build(read_recipe(build.building / "recipe.toml"), out)


def test_it_is_named_with_the_command_that_continues_and_is_no_task(tmp_path: Path, pgdl: Pgdl) -> None:
    def show(*options: object) -> Ended:
        return pgdl("task", "show", tmp_path, *options)

    directory = begin(tmp_path).building
    continues = f"pgdl task build RECIPE --output {tmp_path}"
    shown = show()
    assert (shown.code, shown.lines[0]) == (0, f"half (not finished) in {directory}")
    assert shown.lines[1] == f"{continues} continues"
    found = {"task": "half", "layout": "not finished", "directory": str(directory)}
    assert json.loads(show("--format", "json").out) == [found]
    told = f"only tasks that pgdl task build has not finished: half; continue with: {continues}\n"
    for command in ("task validate", "task list", "run num_params --tasks", "score num_params --tasks"):
        assert told in pgdl(*command.split(), tmp_path).refusal()
    page = tmp_path / "page.html"
    refused = show("--html", page).refusal()
    assert "page.html: nothing to write: expected a task with models, found only tasks that are not" in refused
    assert f"continue with: {continues}" in refused
    make_task(tmp_path, layout="full")  # beside it, a finished task
    for options, tiny, half in (((), True, True), (("--task", "half"), False, True), (("--task", "tiny"), True, False)):
        shown = show(*options)
        assert ("tiny (full, " in shown.out, "half (not finished)" in shown.out) == (tiny, half)
    unknown = show("--task", "hafl")
    assert (unknown.code, "did you mean" in unknown.err) == (2, True)
    told = f"task 'half' is not finished; continue with: {continues}"
    assert told in pgdl("task", "validate", tmp_path, "--task", "half").refusal()
    assert show("--html", page).code == 0


def test_a_build_of_another_recipe_is_replaced_until_its_first_model_is_finished_unless_it_is_at_work(
    tmp_path: Path, pgdl: Pgdl
) -> None:
    directory = begin(tmp_path).building  # and ended there, for want of data
    (directory / "cell_0.unfinished").mkdir()
    (directory / "data").mkdir()
    first, changed = tmp_path / "first.toml", tmp_path / "changed.toml"
    first.write_text(RECIPE)
    with Build(read_recipe(first), tmp_path).locked():
        refusal = pgdl("task", "build", first, "--output", tmp_path).refusal()
    assert f"{directory}: another pgdl task build is at work here; wait until it has ended" in refusal
    assert not directory.with_name("half.lock").exists()
    changed.write_text(RECIPE.replace("0.05", "0.1"))
    Build(read_recipe(changed), tmp_path).begin()
    assert sorted(path.name for path in directory.iterdir()) == ["recipe.sha256", "recipe.toml"]
    assert (directory / "recipe.toml").read_text() == changed.read_text()
    early = Build(read_recipe(first), tmp_path)  # before the first model is finished
    (directory / "cell_0").mkdir()
    said = f"expected {first}, found a recipe with another training.learning_rate; choose another --output"
    refusal = pgdl("task", "build", first, "--output", tmp_path).refusal()
    assert f"{directory}: belongs to another recipe or version: {said}" in refusal
    with pytest.raises(UserError, match="belongs to another recipe"):
        early.begin()
    assert (directory / "cell_0").is_dir()


def test_a_recipe_may_be_marked_as_hidden_later_but_not_be_changed_during_the_build(tmp_path: Path) -> None:
    recipe = tmp_path / "half.toml"
    recipe.write_text(RECIPE)
    digest = read_recipe(recipe).digest
    recipe.write_text("hidden = true" + RECIPE)
    assert read_recipe(recipe).digest == digest, "the finished models count"
    recipe.write_text(RECIPE.replace("[16, 32]", "[32, 64]"))
    with pytest.raises(UserError, match=r"half\.toml: changed during the build; undo the change to continue"):
        prepare("tensorflow", str(recipe), digest, str(tmp_path))


def test_the_reference_data_are_on_the_disk_before_the_records_of_the_models_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync(descriptor: int) -> None:
        assert (directory / "records/3.json").exists()
        synced.add(os.fstat(descriptor).st_ino)

    build, synced = begin(tmp_path), set[int]()
    directory = build.building
    (directory / "data").mkdir()
    for cell in build.recipe.cells:
        (directory / f"cell_{cell.number}").mkdir()
        metrics = {"train_acc": 1.0, "test_acc": 0.5}
        write_record(directory, str(cell.number), {"cell": cell.number, "metrics": metrics})
    monkeypatch.setattr(os, "fsync", sync)
    build.finish()
    assert not directory.exists()
    assert {(build.reference / name).stat().st_ino for name in ("model_configs.json", "training.json")} <= synced


def test_a_trainer_that_is_killed_costs_only_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = begin(tmp_path)
    monkeypatch.setattr("harness.corpus.build.PROGRAM", "tests.corpus.dying_trainer")
    kills = itertools.count()  # the kernel's counter
    monkeypatch.setattr("harness.processes.client.memory_kills", lambda: next(kills))
    _, *events = build.train([0, 1], workers=1)
    assert [(event.cell, event.kind) for event in events] == [(0, "failed"), (1, "done")]
    assert events[0].details == {"message": "the process ended with SIGKILL, because memory was short"}


def test_data_that_were_changed_since_the_build_began_train_no_model(tmp_path: Path) -> None:
    inputs, labels = np.random.default_rng(0).random((5, 4, 4, 1), np.float32), np.arange(5, dtype=np.int32) % 2
    require_same_data(tmp_path, {"train": (inputs, labels)})  # nothing is written yet
    write_shards(tmp_path / "data" / "train", inputs, labels, 3)
    require_same_data(tmp_path, {"train": (inputs + np.float32(1e-6), labels)})
    third = np.arange(5) == 3
    image = np.where(third[:, None, None, None], 1 - inputs, inputs)
    for changed in ((image, labels), (inputs, labels * ~third), (inputs[:4], labels[:4])):
        with pytest.raises(UserError, match="data: other train data than the recipe has now; restore the data to cont"):
            require_same_data(tmp_path, {"train": changed})


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


def test_a_missing_tensorflow_or_a_place_to_which_no_task_can_be_moved_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = read_recipe(shipped_directory("task_data") / "recipes" / "digits_nin.toml")
    with monkeypatch.context() as patch:
        patch.setattr(type(RUNTIMES["tensorflow"]), "distributions", ("no-such-package",))
        with pytest.raises(UserError, match=r"trained in TensorFlow; not installed: no-such-package; .*pip install"):
            Build(recipe, tmp_path).begin()
    assert list(tmp_path.iterdir()) == []
    if Path("/dev/shm").exists():  # a second disk
        (tmp_path / "input_data").symlink_to("/dev/shm")
        with pytest.raises(UserError, match=r"input_data: is on another disk: expected the disk of .*; make the whole"):
            Build(recipe, tmp_path).begin()
        with pytest.raises(UserError, match="input_data: is on another disk"):
            require_free(ImportOrder(tmp_path / "models.csv", "x.npz", None, tmp_path, "mine"))


@pytest.mark.rest
@pytest.mark.parametrize(
    ("family", "settings", "side"),
    [
        ("vgg", {"n_blocks": 3, "n_filters": 4}, 8),
        ("vgg", {"depth": 11, "n_filters": 4}, 32),
        ("nin", {"n_convolutions": 9, "n_filters": 2}, 1),
        ("fully_convolutional", {"n_parameters": 100}, 1),
        ("resnet", {"depth": 18, "n_filters": 2}, 1),
        ("convnext", {"n_blocks": 1, "n_filters": 2, "patch": 9}, 9),
        ("mlp", {"width": 2}, 1),
    ],
)
def test_keras_builds_from_images_of_the_smallest_side_and_from_none_smaller(family, settings, side) -> None:
    layers = FAMILIES[family](2, **settings)
    assert smallest_side(layers) == side
    training_network(layers, (side, side, 3), 0.0, "glorot_uniform")
    if side > 1:
        with pytest.raises(ValueError, match="size would be"):
            training_network(layers, (side - 1, side - 1, 3), 0.0, "glorot_uniform")
