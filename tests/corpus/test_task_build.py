"""Tests of the real `pgdl task build`: a tiny recipe becomes a task that every other command accepts."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from e2e.real_runs import PGDL, run_here

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


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """The user's environment, with an empty cache."""
    return dict(os.environ) | {"PGDL_CACHE": str(tmp_path_factory.mktemp("cache")), "COLUMNS": "200"}


@pytest.fixture(scope="module")
def build(environment):
    """Return a function that runs `pgdl ARGUMENTS` to its end in this process."""

    def run(*arguments) -> subprocess.CompletedProcess[str]:
        return run_here([*map(str, arguments)], environment, Path.cwd())

    return run


@pytest.fixture(scope="module")
def recipe(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "tiny.toml"
    path.write_text(RECIPE)
    return path


@pytest.fixture(scope="module")
def built(build, recipe, tmp_path_factory) -> tuple[Path, str]:
    """A task from an uninterrupted build, and the build's output."""
    out = tmp_path_factory.mktemp("built")
    done = build("task", "build", recipe, "--output", out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out, done.stdout


def metrics(out: Path) -> dict[str, dict[str, float]]:
    """Return model -> accuracies in the reference data."""
    configs = json.loads((out / "reference_data" / "tiny" / "model_configs.json").read_text())
    return {model: config["metrics"] for model, config in configs.items()}


def cut(file: Path) -> None:
    """Cut a file off after a few bytes."""
    file.write_bytes(file.read_bytes()[:10])


def contents(out: Path) -> dict[str, bytes]:
    """Return path -> content of every file of the models and the data."""
    root = out / "input_data"
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_task_is_valid_meets_its_criterion_and_keeps_nothing_of_the_training(built, build):
    out, printed = built
    assert printed.count("gap ") == 4
    assert "model_0 (width 16, dropout 0.0): train" in printed
    assert "per hour" in printed
    assert f"Wrote {out / 'input_data' / 'tiny'}" in printed
    assert not (out / "building").exists()
    done = build("task", "validate", out)
    assert "tiny: 4 models, 2 hyperparameters, 60 training samples, outputs are logits: valid" in done.stdout
    records = json.loads((out / "reference_data" / "tiny" / "training.json").read_text())
    assert [record["cell"] for record in records] == [0, 1, 2, 3]
    assert all(record["reached"] and record["cross_entropy"] <= 0.3 for record in records)
    assert all(0.85 < accuracies["train_acc"] <= 1 for accuracies in metrics(out).values())
    (task,) = TaskDirectory(out).runnable()
    found, known = read_contents(task), read_known(task.reference.parent)
    assert (known.models, known.data, known.n_test) == (found.models, found.data, found.n_test)
    assert len(known.models) == 4
    model = out / "input_data" / "tiny" / "model_1"
    assert "ropout" not in (model / "config.json").read_text()
    assert {path.name for path in model.iterdir()} == {"config.json", "weights.hdf5", "weights_init.hdf5"}


def test_a_finished_task_is_left_alone_also_by_no_resume_and_by_another_recipe(built, build, recipe, tmp_path):
    again = build("task", "build", recipe, "--output", built[0])
    assert (again.returncode, "finished already" in again.stdout) == (0, True)
    assert ("Wrote" in again.stdout, again.stdout.splitlines()[-1]) == (False, f"Next: pgdl task show {built[0]}")
    as_json = build("task", "build", recipe, "--output", built[0], "--format", "json")
    content = json.loads(as_json.stdout)
    assert (content["finished"], content["failed"], content["expected_models"]) == (True, [], len(content["models"]))
    assert {one["model"]: one["metrics"] for one in content["models"]} == dict(enumerate(metrics(built[0]).values()))

    refused = build("task", "build", recipe, "--output", built[0], "--no-resume")
    remedy = (
        f"remove it and {built[0] / 'reference_data' / 'tiny'} to build it from scratch, or choose another --output"
    )
    assert (refused.returncode, remedy in refused.stderr) == (2, True)
    other = tmp_path / "tiny.toml"
    other.write_text(RECIPE.replace("seed = 1", "seed = 2"))
    refused = build("task", "build", other, "--output", built[0])
    assert (refused.returncode, "belongs to another recipe or version" in refused.stderr) == (2, True)
    assert len(metrics(built[0])) == 4


def test_damaged_models_of_a_finished_task_are_named_and_made_anew_once_they_are_removed(
    built, build, recipe, tmp_path
):
    out = tmp_path / "out"
    shutil.copytree(built[0], out)
    task = out / "input_data" / "tiny"
    cut(task / "model_1" / "weights.hdf5")
    refused = build("task", "build", recipe, "--output", out)
    assert f"{task}: not as they were built: model_1; remove these models" in refused.stderr
    assert f"pgdl task build RECIPE --output {out}" in build("task", "validate", out).stdout
    shutil.rmtree(task / "model_1")
    shutil.rmtree(task / "dataset_1")
    assert "3 of 4 models are finished already" in build("task", "build", recipe, "--output", out).stdout
    assert contents(out) == contents(built[0])


@pytest.mark.rest
def test_damaged_models_and_data_of_an_unfinished_task_are_made_anew(built, build, recipe, tmp_path):
    build("task", "build", recipe, "--output", tmp_path, "--limit", 3)
    building = tmp_path / "building" / "tiny"
    cut(building / "cell_0" / "weights.hdf5")
    (building / "cell_1" / "config.json").unlink()
    cut(building / "records" / "2.json")
    cut(building / "data" / "test" / "shard_1.tfrecord")
    resumed = build("task", "build", recipe, "--output", tmp_path)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    for name in ("data", "model_0", "model_1", "model_2"):
        assert f"{name}: damaged or incomplete; to be made anew" in resumed.stdout.splitlines()
    assert contents(tmp_path) == contents(built[0])


@pytest.mark.rest
@pytest.mark.timeout(600)
def test_a_build_that_is_killed_and_resumed_gives_the_same_task(built, build, recipe, environment, tmp_path):
    command = [*PGDL, "task", "build", str(recipe), "--output", str(tmp_path), "--workers", "1"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("building/tiny/cell_?")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    refused = build("task", "validate", tmp_path)
    assert refused.returncode == 2, "an unfinished task is none"
    alone = ("--workers", 1)  # the other task was built by as many as there are cores
    limited = build("task", "build", recipe, "--output", tmp_path, "--limit", 3, *alone)
    assert "3 of 4 models are finished" in limited.stdout
    assert "tiny (not finished)" in build("task", "show", tmp_path).stdout
    resumed = build("task", "build", recipe, "--output", tmp_path, *alone)
    assert "3 of 4 models are finished already" in resumed.stdout
    assert contents(tmp_path) == contents(built[0])
    assert metrics(tmp_path) == metrics(built[0])


@pytest.mark.rest
def test_the_networks_are_the_same_whatever_the_number_of_workers(build, tmp_path):
    convolutions = RECIPE.replace('family = "mlp"\ndepth = 1', 'family = "vgg"\nn_blocks = 1\nn_dense = 1')
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(
        convolutions.replace("width = [16, 32]", "n_filters = [16, 32]").replace("= 60\nstop", "= 2\nstop")
    )
    for workers in (1, 2):
        done = build("task", "build", recipe, "--output", tmp_path / str(workers), "--workers", workers)
        assert done.returncode == 0, done.stdout + done.stderr
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_a_loss_that_is_no_number_any_more(build, tmp_path):
    recipe = tmp_path / "wild.toml"
    recipe.write_text(RECIPE.replace('"tiny"', '"wild"').replace("learning_rate = 0.05", "learning_rate = 1e20"))
    done = build("task", "build", recipe, "--output", tmp_path, "--limit", 1)
    assert done.returncode == 3
    assert "not trained: the loss is" in done.stdout
    assert not (tmp_path / "input_data").exists()
    assert build("task", "validate", tmp_path).returncode == 2


def test_images_too_small_for_a_later_model_are_refused_before_the_first_is_trained(build, tmp_path):
    """The error names the settings that need the largest images; three blocks just fit."""
    recipe = tmp_path / "deep.toml"
    vgg = RECIPE.replace('"mlp"\ndepth = 1', '"vgg"\nn_filters = 2').replace("width = [16, 32]", "n_blocks = [3, 9, 4]")
    recipe.write_text(vgg)
    refused = build("task", "build", recipe, "--output", tmp_path, "--limit", 1)
    said = (
        f"{recipe}: images are too small for 4 of 6 models, such as vgg (n_filters 2, n_blocks 9): expected at least "
        "512 x 512 pixels, found {} x 8; change the architecture or its grid, or data.resize"
    )
    assert (refused.returncode, refused.stderr) == (2, f"pgdl: {said.format(8)}\n")
    assert not (tmp_path / "building").exists(), "nothing was trained"
    with pytest.raises(UserError, match=re.escape(said.format(600))):
        require_large_images(read_recipe(recipe), 600, 8)
    require_large_images(read_recipe(recipe), 512, 600)


def build_limited(environment, kind, limit, recipe, out, *more) -> subprocess.CompletedProcess[str]:
    """Run `pgdl task build` in a process with a resource limit."""
    return subprocess.run(
        [*PGDL, "task", "build", recipe, "--output", out, "--workers", "1", *more],
        env=environment, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
    )  # fmt: skip


@pytest.mark.rest
def test_a_disk_that_takes_no_more_is_one_line_and_costs_nothing_that_is_finished(environment, build, tmp_path):
    recipe = tmp_path / "large.toml"  # the second model is too large
    recipe.write_text(RECIPE.replace('"tiny"', '"large"').replace("[16, 32]", "[16, 9000]").replace("0.3", "1e-9"))
    recipe.write_text(recipe.read_text().replace("max_epochs = 60", "max_epochs = 1"))
    done = build_limited(environment, resource.RLIMIT_FSIZE, 1_000_000, recipe, tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "File too large" in done.stderr
    assert "finished models are kept" in done.stderr
    assert "Traceback" not in done.stderr
    resumed = build("task", "build", recipe, "--output", tmp_path, "--limit", 2)
    assert "2 of 4 models are finished already" in resumed.stdout


@pytest.mark.rest
def test_networks_that_are_too_large_for_the_memory_are_named(environment, tmp_path):
    recipe = tmp_path / "huge.toml"
    recipe.write_text(RECIPE.replace("depth = 1", "depth = 2").replace("width = [16, 32]", "width = [200000, 16]"))
    done = build_limited(environment, resource.RLIMIT_AS, 16 * 1024**3, recipe, tmp_path, "--limit", "3")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "model_0 (width 200000, dropout 0.0): not trained: memory was short" in done.stdout
    assert "model_2 (width 16, dropout 0.0): train" in done.stdout


@pytest.mark.rest
def test_the_users_settings_of_keras_change_no_network(built, recipe, environment, tmp_path, new_processes):
    settings = {"floatx": "float64", "epsilon": 0.1, "backend": "jax", "image_data_format": "channels_first"}
    (tmp_path / "keras.json").write_text(json.dumps(settings))
    hostile = environment | {"KERAS_HOME": str(tmp_path), "KERAS_MAX_EPOCHS": "1", "TF_ENABLE_ONEDNN_OPTS": "0"}
    done = run_here(["task", "build", str(recipe), "--output", str(tmp_path), "--limit", "1"], hostile, Path.cwd())
    assert done.returncode == 0, done.stdout + done.stderr
    found = {file.name: file.read_bytes() for file in (tmp_path / "building" / "tiny" / "cell_0").iterdir()}
    assert found == {name: contents(built[0])[f"tiny/model_0/{name}"] for name in found}
