"""The files of a task: read again by the harness' own reader, and the same bytes every time."""

import json

import h5py
import numpy as np
import pytest

from harness.format.architecture import Architecture, LayerShapes, ModelShapes
from harness.format.layout import find_shards
from harness.format.reference import read_reference, reference_entry, write_reference
from harness.format.shards import read_samples, write_shards
from harness.format.weights import read_weights, write_weights

RANDOM = np.random.default_rng(0)
WEIGHTS = [
    ("conv2d", [("kernel", RANDOM.random((3, 3, 1, 2), np.float32)), ("bias", RANDOM.random(2, np.float32))]),
    ("dense", [("kernel", RANDOM.random((2, 4), np.float32))]),
]


def test_shards_are_read_as_they_were_written(tmp_path):
    inputs, labels = RANDOM.random((7, 4, 4, 1), np.float32), np.arange(7)
    write_shards(tmp_path, inputs, labels, 3)
    shards = find_shards(tmp_path)
    samples = [sample for shard in shards for sample in read_samples(shard)]
    assert len(shards) == 3
    np.testing.assert_array_equal(np.stack([image for image, _ in samples]), inputs)
    assert [label for _, label in samples] == labels.tolist()


def test_shards_are_what_tensorflow_reads(tmp_path):
    import tensorflow as tf

    inputs = RANDOM.random((2, 4, 4, 1), np.float32)
    write_shards(tmp_path, inputs, np.array([5, 6]), 1)
    features = {name: tf.io.FixedLenFeature([], tf.string) for name in ("inputs", "output")}
    records = [
        tf.io.parse_single_example(r, features) for r in tf.data.TFRecordDataset(str(tmp_path / "shard_0.tfrecord"))
    ]
    np.testing.assert_array_equal([tf.io.parse_tensor(r["inputs"], tf.float32) for r in records], inputs)
    assert [int(tf.io.parse_tensor(r["output"], tf.int32)) for r in records] == [5, 6]


def test_weights_are_read_as_they_were_written(tmp_path):
    write_weights(tmp_path / "weights.hdf5", WEIGHTS)
    layers = tuple(LayerShapes(name, tuple((n, array.shape) for n, array in arrays)) for name, arrays in WEIGHTS)
    architecture = Architecture(tmp_path, {}, tuple(name for name, _ in WEIGHTS), (0, 1))
    content = (tmp_path / "weights.hdf5").read_bytes()
    stored = read_weights(content, tmp_path, architecture, ModelShapes(layers, (4,)))
    for found, (_, array) in zip(stored, [pair for _, arrays in WEIGHTS for pair in arrays], strict=True):
        np.testing.assert_array_equal(found, array)
    with h5py.File(tmp_path / "weights.hdf5") as file:
        assert list(file["conv2d"].attrs["weight_names"]) == [b"conv2d/kernel:0", b"conv2d/bias:0"]


@pytest.mark.parametrize("legacy", [False, True])
def test_weights_are_what_keras_reads(tmp_path, legacy):
    if legacy:
        import tf_keras as keras
    else:
        import keras

    path = tmp_path / "weights.hdf5"
    model = keras.Sequential(
        [keras.Input((4, 4, 1)), keras.layers.Conv2D(2, 3), keras.layers.GlobalAveragePooling2D(),
         keras.layers.Dense(4, use_bias=False)]
    )  # fmt: skip
    with_all = [("conv2d", WEIGHTS[0][1]), ("global_average_pooling2d", []), ("dense", WEIGHTS[1][1])]
    for layers in (WEIGHTS, with_all):
        write_weights(path, layers)
        model.load_weights(path)
        expected = [array for _, weights in layers for _, array in weights]
        for found, array in zip(model.get_weights(), expected, strict=True):
            np.testing.assert_array_equal(found, array)


def test_the_bytes_do_not_depend_on_the_time(tmp_path):
    write_weights(tmp_path / "a.hdf5", WEIGHTS)
    # HDF5 keeps times in whole seconds since 1970, which the bytes would show
    created = int((tmp_path / "a.hdf5").stat().st_mtime)
    content = (tmp_path / "a.hdf5").read_bytes()
    assert not any(second.to_bytes(4, "little") in content for second in range(created - 5, created + 5))
    write_weights(tmp_path / "b.hdf5", WEIGHTS)
    assert (tmp_path / "b.hdf5").read_bytes() == content


def test_the_reference_holds_the_cells_that_have_metrics(tmp_path):
    grid = {"depth": [1, 2], "decay": [0.0, 0.1]}
    cells = [{"depth": depth, "decay": decay} for depth in grid["depth"] for decay in grid["decay"]]
    path = tmp_path / "reference" / "model_configs.json"
    metrics = [{"train_acc": 1.0, "test_acc": 0.9 - 0.1 * n} for n in range(4)]
    entries = {str(n): reference_entry(grid, cell, metrics[n]) for n, cell in enumerate(cells)}
    write_reference(path, entries)
    reference = read_reference(path)
    assert reference.models == ("model_0", "model_1", "model_2", "model_3")
    assert reference.gaps["model_3"] == pytest.approx(0.4)
    assert reference.grid.values == {"depth": (1, 2), "decay": (0.0, 0.1)}
    write_reference(path, {"3": entries["3"]})
    assert list(json.loads(path.read_text())) == ["3"]
