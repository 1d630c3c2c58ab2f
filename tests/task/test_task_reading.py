"""Tests of what a run reads of a task, and of the cache."""

import errno
import json
import shutil
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import h5py
import numpy as np
import pytest
from throwaway import edit_json, make_task, write_shards

from harness.errors import UserError
from harness.format.problems import InvalidTaskError
from harness.task import shapes
from harness.task.contents import read_contents, write_known
from harness.task.layout import TaskDirectory
from harness.task.selection import require_known, select_models
from harness.task.task import read_task, read_tasks

#: The function that the tests replace by a shared process.
keras_process = shapes.keras_process


def read(directory):
    return read_task(TaskDirectory(directory).runnable()[0])


@pytest.fixture
def own_cache(tmp_path, shared_cache, monkeypatch):
    """A new cache, which has only the shapes of the throw-away models."""
    shutil.copytree(shared_cache / "shapes", tmp_path / "cache/shapes")
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_models_data_and_reference(tmp_path, task):
    found = read(tmp_path)
    ids = [f"model_{i}" for i in range(8)]
    assert [model.id for model in found.models] == list(found.reference.gaps) == ids
    assert found.models[3].n_parameters == (4 * 6 + 6) + (6 * 6 + 6) + (6 * 3 + 3)
    assert (found.models[0].input_shape, found.models[0].n_outputs) == ((4,), 3)
    assert (found.data.n_samples, found.data.input_shape, found.data.n_classes) == (24, (4,), 3)
    assert (found.data.inputs.dtype, found.data.labels.dtype) == (np.float32, np.int32)
    assert found.data.labels.tolist() == [0, 1, 2] * 8
    (tmp_path / "canonical").mkdir()
    found.data.write_canonical(tmp_path / "canonical")
    for name, array in (("inputs", found.data.inputs), ("labels", found.data.labels)):
        np.testing.assert_array_equal(np.load(tmp_path / "canonical" / f"{name}.npy"), array)
    assert len({model.digest for model in found.models}) == 8
    edit_json(task / "model_0/config.json", lambda content: content.update(comment="other file"))
    again = read(tmp_path)
    changed = [new.id for new, old in zip(again.models, found.models, strict=True) if new.digest != old.digest]
    assert changed == ["model_0"]


def test_models_may_be_chosen_by_a_name_a_list_or_a_number():
    models = [Mock(id=f"model_{number}", n_parameters=number) for number in range(13)]
    task = SimpleNamespace(name="tiny", models=models)
    for wanted, chosen in (("model_12", [12]), (["model_12", "model_0"], [0, 12]), (2, [0, 12]), (None, range(13))):
        require_known([task], wanted)
        assert list(select_models(task, wanted)) == [models[number] for number in chosen]
    for wanted in (["model_0", "model_99"], "odel_0", [], 0):
        with pytest.raises(UserError, match="model"):
            require_known([task], wanted)


def test_shards_are_read_in_natural_order(tmp_path, task):
    inputs = np.arange(48, dtype=np.float32).reshape(12, 4)
    write_shards(task / "dataset_1/train", inputs, np.zeros(12, np.int32), n_shards=12)
    assert (task / "dataset_1/train/shard_10.tfrecord").exists()
    np.testing.assert_array_equal(read(tmp_path).data.inputs, inputs)


def canonical(directory, number=0):
    """Return model `number`, and the directory with its canonical files."""
    model = read(directory).models[number]
    shutil.rmtree(directory / "canonical", ignore_errors=True)
    (directory / "canonical").mkdir()
    model.write_canonical(directory / "canonical")
    return model, directory / "canonical"


def test_canonical_files_hold_the_model_and_nothing_else(tmp_path, task):
    hints = {"name": "weight_decay_0", "kernel_regularizer": {"class_name": "L2"}, "kernel_initializer": "zeros"}

    def train_like_this(content):
        content["model_config"][0].update(hints)
        content["model_config"].insert(1, {"layer_name": "Dropout", "rate": 0.5})

    edit_json(task / "model_0/config.json", train_like_this)
    _, target = canonical(tmp_path)
    layers = [("Dense", {"units": 4, "activation": "relu"}), ("Dropout", {"rate": 0}), ("Dense", {"units": 3})]
    written = [{"class_name": name, "config": config} for name, config in layers]
    expected = {"format": "layers", "input_shape": [4], "layers": written}
    assert json.loads((target / "architecture.json").read_text()) == expected
    for archive, source in (("weights.npz", "weights.hdf5"), ("initial_weights.npz", "weights_init.hdf5")):
        with np.load(target / archive) as arrays, h5py.File(task / "model_0" / source) as file:
            stored = [file[f"{n}/{n}/weight_{weight}:0"][()] for n in ("dense", "dense_1") for weight in (0, 1)]
            assert sorted(arrays.files) == ["w0", "w1", "w2", "w3"]
            for name, array in zip(sorted(arrays.files), stored, strict=True):
                np.testing.assert_array_equal(arrays[name], array)
    with np.load(target / "weights.npz") as final, np.load(target / "initial_weights.npz") as initial:
        assert not np.array_equal(final["w0"], initial["w0"])


def shown(tmp_path, number=0):
    return read(tmp_path).models[number].shown_digest


def test_how_a_model_was_trained_does_not_change_the_digest_of_what_is_shown(tmp_path, task):
    def trained(rate, **settings):
        def change(content):
            first, *_, last = content["model_config"]
            first = {name: first[name] for name in reversed(first)} | settings
            content["model_config"] = [first, {"layer_name": "Dropout", **rate}, last]

        edit_json(task / "model_0/config.json", change)

    trained({"rate": 0.1})
    model = read(tmp_path).models[0]
    trained({"rate": 0.5, "seed": 7, "noise_shape": [1, 4]}, name="adam", kernel_regularizer={"class_name": "L2"})
    with h5py.File(task / "model_0/weights.hdf5", "a") as file:
        file.attrs["training_config"] = "adam"
    (task / "model_0").rename(task / "model_8")
    (task / "model_configs.json").unlink()
    again, files = canonical(tmp_path, -1)
    assert again.digest != model.digest
    assert again.shown_digest == model.shown_digest
    first = '{"class_name": "Dense", "config": {"activation": "relu", "units": 4}}'  # in the order of the alphabet
    assert first in (files / "architecture.json").read_text()


def test_whatever_is_shown_changes_its_digest(tmp_path, task):
    model = task / "model_0"
    digests = [shown(tmp_path), shown(tmp_path, 1)]
    for file in ("weights.hdf5", "weights_init.hdf5"):
        with h5py.File(model / file, "a") as content:
            content["dense/dense/weight_1:0"][0] += 1
        digests.append(shown(tmp_path))
    shutil.copyfile(model / "weights.hdf5", model / "weights_init.hdf5")
    digests.append(shown(tmp_path))
    (model / "weights_init.hdf5").unlink()
    digests.append(shown(tmp_path))
    edit_json(model / "config.json", lambda content: content["model_config"][0].update(activation="tanh"))
    digests.append(shown(tmp_path))
    assert len(set(digests)) == len(digests)


def test_initial_weights_are_optional(tmp_path):
    make_task(tmp_path, initial_weights=False)
    model, target = canonical(tmp_path)
    assert not model.has_initial_weights
    assert sorted(path.name for path in target.iterdir()) == ["architecture.json", "weights.npz"]


def test_all_problems_are_found_at_once_and_a_run_shows_the_first(tmp_path, pgdl, task):
    (task / "model_0/weights.hdf5").unlink()
    (task / "model_3/config.json").write_text("")
    (task / "dataset_1/train/shard_0.tfrecord").write_bytes(b"")
    (task / "dataset_1/train/shard_1.tfrecord").write_bytes(b"")
    for model in "23":
        edit_json(task / "model_configs.json", lambda c, model=model: c[model]["metrics"].update(train_acc=2))
    outcome = pgdl("task", "validate", tmp_path)
    assert [line.split(":")[0].removeprefix(f"{task}/") for line in outcome.lines] == [
        "model_3/config.json", "model_0/weights.hdf5", "dataset_1/train/shard_0.tfrecord",
        "dataset_1/train/shard_1.tfrecord", "model_configs.json", "model_configs.json", "tiny",
    ]  # fmt: skip
    with pytest.raises(InvalidTaskError) as refused:
        read_tasks(TaskDirectory(tmp_path).runnable())
    more = "and 3 more problems; `pgdl task validate` lists them all"
    assert str(refused.value).splitlines() == [*outcome.lines[:3], more]


def test_ids_of_models_and_reference_agree(tmp_path, pgdl, task):
    (task / "model_5").rename(task / "model_9")
    reference = task / "model_configs.json"
    assert pgdl("task", "validate", tmp_path).lines == [
        f"{reference}: model_9: expected an entry for {task / 'model_9'}, found none",
        f"{reference}: model_5: expected a directory {task / 'model_5'}, found none",
        "tiny: 2 problems: invalid",
    ]


def test_second_time_starts_no_process_and_decodes_nothing(tmp_path, monkeypatch, task):
    read(tmp_path)
    for function in ("harness.task.shapes.keras_process", "subprocess.Popen", "harness.task.data._fill"):
        monkeypatch.setattr(function, Mock(side_effect=AssertionError("expected the cache to be used")))
    assert read(tmp_path).data.n_samples == 24


def test_damaged_cache_is_as_good_as_none(tmp_path, own_cache, task):
    data = read(tmp_path).data
    inputs = np.array(data.inputs)
    (data.directory / "inputs.npy").write_bytes((data.directory / "inputs.npy").read_bytes()[:200])
    for damage, entry in zip(("", "[]", '{"layers": []}'), (own_cache / "shapes").iterdir(), strict=False):
        entry.write_text(damage)
    [lock] = [lock for lock in data.directory.parent.glob("*.lock") if not lock.with_suffix("").exists()]
    lock.with_suffix(".partial").mkdir()
    np.testing.assert_array_equal(read(tmp_path).data.inputs, inputs)
    assert sorted(path.suffix for path in (own_cache / "training_data").iterdir()) == ["", ".lock"]


def test_arrays_that_other_code_has_decoded_are_decoded_anew(tmp_path, task):
    data = read(tmp_path).data
    inputs = np.array(data.inputs)
    np.save(data.directory / "inputs.npy", inputs + 1)
    (data.directory / "made_by").write_text("an earlier version")
    np.testing.assert_array_equal(read(tmp_path).data.inputs, inputs)


def test_broken_shards_leave_nothing_in_the_cache(tmp_path, own_cache, task):
    (task / "dataset_1/train/shard_1.tfrecord").write_bytes(b"short")
    with pytest.raises(InvalidTaskError):
        read(tmp_path)
    assert [path.suffix for path in (own_cache / "training_data").iterdir()] == [".lock"]


@pytest.mark.rest
def test_keras_in_a_process_of_its_own_gives_the_same_shapes(tmp_path, shared_cache, monkeypatch, new_processes, task):
    monkeypatch.setattr(shapes, "keras_process", keras_process)
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    read(tmp_path)
    for entry in (tmp_path / "cache" / "shapes").iterdir():
        assert entry.read_text() == (shared_cache / "shapes" / entry.name).read_text()


def test_a_cache_that_takes_no_shapes_costs_only_time(tmp_path, monkeypatch, task):
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shapes, "write_whole", Mock(side_effect=PermissionError(errno.EACCES, "Permission denied")))
    assert len(read(tmp_path).models) == 8
    assert [*(tmp_path / "cache/shapes").iterdir()] == []


def test_keras_that_does_not_start(tmp_path, pgdl, monkeypatch, new_processes, task):
    monkeypatch.setattr(shapes, "keras_process", keras_process)
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "executable", "false")
    assert pgdl("task", "validate", tmp_path).refusal() == (
        f"pgdl: {task / 'model_0/config.json'}: Keras could not infer the shapes of the weights: found exit code 1; "
        "run `pgdl doctor`\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no such names")
def test_a_name_that_no_database_would_be_read_with_is_refused(tmp_path, task):
    (task / "model_3").rename(task / "model_3\n\x1b[31m")
    task.rename(task.with_name("a\udcfftask"))
    with pytest.raises(InvalidTaskError) as raised:
        read(tmp_path)
    found = [line for line in str(raised.value).splitlines() if "cannot be recorded: " in line]
    assert [line.split(": ")[0] for line in found] == [f"{tmp_path}/a?task", f"{tmp_path}/a?task/model_3 ?[31m"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no such names")
def test_such_a_name_of_reference_data_is_refused_before_records_are_sought(tmp_path, pgdl):
    make_task(tmp_path, layout="full")
    references = tmp_path / "reference_data" / "a\udcfftask"
    shutil.copytree(references.with_name("tiny"), references)
    problem = f"{references}: cannot be recorded: expected a name without control characters".replace("\udcff", "?")
    with pytest.raises(UserError) as raised:
        TaskDirectory(tmp_path).references()
    assert str(raised.value) == problem
    assert list(TaskDirectory(tmp_path).references(["tiny"])) == ["tiny"]
    assert problem in pgdl("task", "validate", tmp_path).lines


def test_a_name_in_any_language_is_read(tmp_path, task):
    task.rename(task.with_name("Ünï [x] 数字"))
    assert read(tmp_path).name == "Ünï [x] 数字"


def test_networks_and_data_that_the_reference_data_do_not_describe_are_refused(tmp_path, pgdl):
    task = make_task(tmp_path, layout="full")
    reference = tmp_path / "reference_data" / "tiny"
    write_known(reference, read_contents(TaskDirectory(tmp_path).runnable()[0]))
    commands = [[*command, "--tasks", tmp_path] for command in (["run", "depth"], ["board"])]
    commands.append(["task", "validate", tmp_path])

    def named():
        found = []
        for command in commands:
            ended = pgdl(*command)
            assert ended.code == 2
            lines = [line for line in (ended.out + ended.err).splitlines() if f"not as in {reference}" in line]
            assert all("remove contents.json" in line for line in lines)
            found.append([line.removeprefix("pgdl: ").split(": ")[0].removeprefix(f"{task}/") for line in lines])
        assert found[0] == found[1] == found[2]
        return found[0]

    (task / "model_3").rename(task / "aside")
    (task / "model_5").rename(task / "model_3")
    (task / "aside").rename(task / "model_5")
    assert named() == ["model_3", "model_5"]
    (reference / "contents.json").unlink()
    assert pgdl("task", "validate", tmp_path).code == 0
    write_known(reference, read_contents(TaskDirectory(tmp_path).runnable()[0]))
    write_shards(task / "dataset_1/train", np.zeros((3, 4), np.float32), np.arange(3, dtype=np.int32), 1)
    assert named() == ["dataset_1/train"]
