"""Tests of the real `pgdl task build`: a tiny recipe becomes a task that every other command accepts."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from e2e.real_runs import PGDL, run_here, wait_for

from harness.corpus.recipe import read_recipe
from harness.corpus.trainer import require_large_images
from harness.errors import UserError
from harness.task.contents import read_contents, read_known
from harness.task.layout import TaskDirectory

RECIPE = """
name = "tiny"
description = "Four small networks on digits"
[data]
source = "digits"
n_train = 60
n_test = 200
[architecture]
family = "mlp"
depth = 1
[training]
optimizer = "sgd"
learning_rate = 0.05
momentum = 0.9
batch_size = 10
max_epochs = 60
stop = { cross_entropy = 0.3 }
seed = 1
[grid]
width = [16, 32]
dropout = [0.0, 0.1]
"""

Build = Callable[..., subprocess.CompletedProcess[str]]


def changed(directory: Path, *replaced: tuple[str, str]) -> Path:
    """Write the recipe with other texts in place of some of its texts."""
    text = RECIPE
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    (directory / "tiny.toml").write_text(text)
    return directory / "tiny.toml"


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """The user's environment, with an empty cache."""
    return dict(os.environ) | {"PGDL_CACHE": str(tmp_path_factory.mktemp("cache")), "COLUMNS": "200"}


@pytest.fixture(scope="module")
def task(environment) -> Build:
    """Return a function that runs `pgdl task ARGUMENTS` to its end in this process."""
    return lambda *arguments: run_here(["task", *map(str, arguments)], environment, Path.cwd())


@pytest.fixture(scope="module")
def recipe(tmp_path_factory) -> Path:
    return changed(tmp_path_factory.mktemp("recipe"))


@pytest.fixture(scope="module")
def built(task, recipe, tmp_path_factory) -> tuple[Path, str]:
    """A task from an uninterrupted build, and the build's output."""
    out = tmp_path_factory.mktemp("built")
    done = task("build", recipe, "--output", out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out, done.stdout


def metrics(out: Path) -> dict[str, dict[str, float]]:
    configs = json.loads((out / "reference_data" / "tiny" / "model_configs.json").read_text())
    return {model: config["metrics"] for model, config in configs.items()}


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:10])


def contents(out: Path) -> dict[str, bytes]:
    """Return path -> content of every file of the models and the data."""
    root = out / "input_data"
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_task_is_valid_meets_its_criterion_and_keeps_nothing_of_the_training(built, task):
    out, printed = built
    assert printed.count("gap ") == 4
    for text in ("model_0 (width 16, dropout 0.0): train", "per hour", f"Wrote {out / 'input_data' / 'tiny'}"):
        assert text in printed
    assert not (out / "building").exists()
    valid = "tiny: 4 models, 2 hyperparameters, 60 training samples, outputs are logits: valid"
    assert valid in task("validate", out).stdout
    records = json.loads((out / "reference_data" / "tiny" / "training.json").read_text())
    assert [record["cell"] for record in records] == [0, 1, 2, 3]
    assert all(record["reached"] and record["cross_entropy"] <= 0.3 for record in records)
    assert all(0.85 < accuracies["train_acc"] <= 1 for accuracies in metrics(out).values())
    (written,) = TaskDirectory(out).runnable()
    found, known = read_contents(written), read_known(written.reference.parent)
    assert (known.models, known.data, known.n_test) == (found.models, found.data, found.n_test)
    assert len(known.models) == 4
    model = out / "input_data" / "tiny" / "model_1"
    assert "ropout" not in (model / "config.json").read_text()
    assert {path.name for path in model.iterdir()} == {"config.json", "weights.hdf5", "weights_init.hdf5"}


def test_a_finished_task_is_left_alone_also_by_no_resume_and_by_another_recipe(built, task, recipe, tmp_path):
    out = built[0]
    again = task("build", recipe, "--output", out)
    assert (again.returncode, "finished already" in again.stdout, "Wrote" in again.stdout) == (0, True, False)
    assert again.stdout.splitlines()[-1] == f"Next: pgdl task show {out}"
    content = json.loads(task("build", recipe, "--output", out, "--format", "json").stdout)
    assert (content["finished"], content["failed"], content["expected_models"]) == (True, [], len(content["models"]))
    assert {one["model"]: one["metrics"] for one in content["models"]} == dict(enumerate(metrics(out).values()))
    other = changed(tmp_path, ("seed = 1", "seed = 2"))
    remedy = f"remove it and {out / 'reference_data' / 'tiny'} to build it from scratch, or choose another --output"
    for file, more, said in (
        (recipe, ["--no-resume"], remedy),
        (other, [], "belongs to another recipe or version"),
    ):
        refused = task("build", file, "--output", out, *more)
        assert (refused.returncode, said in refused.stderr) == (2, True)
    assert len(metrics(out)) == 4


@pytest.mark.rest
def test_damaged_models_of_a_finished_task_are_named_and_made_anew_once_they_are_removed(built, task, recipe, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(built[0], out)
    place = out / "input_data" / "tiny"
    cut(place / "model_1" / "weights.hdf5")
    refused = task("build", recipe, "--output", out)
    assert f"{place}: not as they were built: model_1; remove these models" in refused.stderr
    assert f"pgdl task build RECIPE --output {out}" in task("validate", out).stdout
    shutil.rmtree(place / "model_1")
    shutil.rmtree(place / "dataset_1")
    assert "3 of 4 models are finished already" in task("build", recipe, "--output", out).stdout
    assert contents(out) == contents(built[0])
    (shard, *_) = (place / "dataset_1" / "train").iterdir()
    shard.write_bytes(shard.read_bytes()[:-1])
    refused = task("build", recipe, "--output", out)
    assert (refused.returncode, f"{place}/dataset_1/train: not as in {out}" in refused.stderr) == (2, True)


@pytest.mark.rest
def test_a_build_that_is_killed_damaged_and_resumed_gives_the_same_task(built, task, recipe, environment, tmp_path):
    """Models and data that are damaged in the meantime are made anew."""
    alone = ("--output", tmp_path, "--workers", "1")  # the other task was built by as many workers as there are cores
    command = [*PGDL, "task", "build", recipe, *alone]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: any(tmp_path.glob("building/tiny/cell_?")), "a model")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert task("validate", tmp_path).returncode == 2, "an unfinished task is none"
    assert "3 of 4 models are finished" in task("build", recipe, *alone, "--limit", 3).stdout
    assert "tiny (not finished)" in task("show", tmp_path).stdout
    building = tmp_path / "building" / "tiny"
    cut(building / "cell_0" / "weights.hdf5")
    (building / "cell_1" / "config.json").unlink()
    cut(building / "records" / "2.json")
    cut(building / "data" / "test" / "shard_1.tfrecord")
    resumed = task("build", recipe, *alone)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    for name in ("data", "model_0", "model_1", "model_2"):
        assert f"{name}: damaged or incomplete; to be made anew" in resumed.stdout.splitlines()
    assert (contents(tmp_path), metrics(tmp_path)) == (contents(built[0]), metrics(built[0]))


@pytest.mark.rest
def test_the_networks_are_the_same_whatever_the_number_of_workers(task, tmp_path):
    recipe = changed(
        tmp_path,
        ('family = "mlp"\ndepth = 1', 'family = "vgg"\nn_blocks = 1\nn_dense = 1'),
        ("width = [16, 32]\ndropout = [0.0, 0.1]", "n_filters = [16, 32]"),
        ("max_epochs = 60", "max_epochs = 2"),
    )
    for workers in (1, 2):
        done = task("build", recipe, "--output", tmp_path / str(workers), "--workers", workers)
        assert done.returncode == 0, done.stdout + done.stderr
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


@pytest.mark.rest
def test_a_loss_that_is_no_number_any_more(task, tmp_path):
    recipe = changed(tmp_path, ("learning_rate = 0.05", "learning_rate = 1e20"))
    done = task("build", recipe, "--output", tmp_path, "--limit", 1)
    assert (done.returncode, "not trained: the loss is" in done.stdout) == (3, True)
    assert not (tmp_path / "input_data").exists()
    assert task("validate", tmp_path).returncode == 2


def test_images_too_small_for_a_later_model_are_refused_before_the_first_is_trained(task, tmp_path):
    """The error names the settings that need the largest images; three blocks just fit."""
    vgg = ('"mlp"\ndepth = 1', '"vgg"\nn_filters = 2'), ("width = [16, 32]", "n_blocks = [3, 9, 4]")
    recipe = changed(tmp_path, *vgg)
    refused = task("build", recipe, "--output", tmp_path, "--limit", 1)
    said = (
        f"{recipe}: images are too small for 4 of 6 models, such as vgg (n_filters 2, n_blocks 9): expected at least "
        "512 x 512 pixels, found {} x 8; change the architecture or its grid, or data.resize"
    )
    assert (refused.returncode, refused.stderr) == (2, f"pgdl: {said.format(8)}\n")
    assert not (tmp_path / "building").exists(), "nothing was trained"
    with pytest.raises(UserError, match=re.escape(said.format(600))):
        require_large_images(read_recipe(recipe), 600, 8)
    require_large_images(read_recipe(recipe), 512, 600)


@pytest.mark.rest
def test_too_little_memory_costs_one_model_and_a_full_disk_no_finished_one(environment, task, tmp_path):
    """The second network is too large for the memory, the last one for the disk."""
    recipe = changed(
        tmp_path, ("depth = 1", "depth = 2"), ("0.3", "1e-9"), ("max_epochs = 60", "max_epochs = 1"),
        ("width = [16, 32]\ndropout = [0.0, 0.1]", "width = [16, 200000, 17, 900]"),
    )  # fmt: skip

    def limit() -> None:
        for kind, most in ((resource.RLIMIT_AS, 16 * 1024**3), (resource.RLIMIT_FSIZE, 1_000_000)):
            resource.setrlimit(kind, (most, most))

    command = [*PGDL, "task", "build", recipe, "--output", tmp_path, "--workers", "1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "model_1 (width 200000): not trained: memory was short" in done.stdout
    assert "model_2 (width 17): train" in done.stdout
    assert "File too large" in done.stderr
    assert "finished models are kept" in done.stderr
    assert "Traceback" not in done.stderr
    resumed = task("build", recipe, "--output", tmp_path, "--limit", 2)
    assert "2 of 4 models are finished already" in resumed.stdout


@pytest.mark.rest
def test_the_users_settings_of_keras_change_no_network(built, recipe, environment, tmp_path, new_processes):
    settings = {"floatx": "float64", "epsilon": 0.1, "backend": "jax", "image_data_format": "channels_first"}
    (tmp_path / "keras.json").write_text(json.dumps(settings))
    hostile = environment | {"KERAS_HOME": str(tmp_path), "KERAS_MAX_EPOCHS": "1", "TF_ENABLE_ONEDNN_OPTS": "0"}
    done = run_here(["task", "build", str(recipe), "--output", str(tmp_path), "--limit", "1"], hostile, Path.cwd())
    assert done.returncode == 0, done.stdout + done.stderr
    found = {file.name: file.read_bytes() for file in (tmp_path / "building" / "tiny" / "cell_0").iterdir()}
    assert found == {name: contents(built[0])[f"tiny/model_0/{name}"] for name in found}
