"""Tests of round trips of a task's files, also through TensorFlow and Keras, with reproducible bytes."""

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays

from harness.errors import UserError
from harness.format.architecture import Architecture, LayerShapes, ModelShapes
from harness.format.layout import find_shards, model_name
from harness.format.reference import read_reference, reference_entry, write_reference
from harness.format.shards import count_samples, read_samples, write_shards
from harness.format.weights import read_weights, write_weights
from scoring.grid import normalise

FINITE = {"allow_nan": False, "allow_infinity": False, "width": 32}
NAMES = st.text(st.characters(codec="ascii", min_codepoint=48, categories=("L", "N")), min_size=1, max_size=12)
#: Text that spells no number: a number written as text is read as that number.
LABELS = NAMES.filter(lambda text: normalise("", text) == text)
VALUES = st.one_of(st.integers(-(2**31), 2**31), st.floats(allow_nan=False, allow_infinity=False), LABELS)

quick = settings(deadline=None, max_examples=15)


def numbers(shape: object) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float32, shape, elements=st.floats(**FINITE))


@quick
@given(st.data())
def test_samples_come_back_whatever_their_shape_and_number_of_shards(data: st.DataObject) -> None:
    n_samples = data.draw(st.integers(1, 12))
    shape = data.draw(array_shapes(min_dims=0, max_dims=4, max_side=4))
    inputs = data.draw(numbers((n_samples, *shape)))
    labels = data.draw(arrays(np.int32, n_samples))
    with TemporaryDirectory() as directory:
        write_shards(Path(directory), inputs, labels, n_shards=data.draw(st.integers(1, n_samples + 2)))
        shards = find_shards(Path(directory))
        samples = [sample for shard in shards for sample in read_samples(shard)]
        assert sum(map(count_samples, shards)) == n_samples
    np.testing.assert_array_equal(np.stack([image for image, _ in samples]), inputs)
    assert [label for _, label in samples] == labels.tolist()


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_no_byte_of_a_shard_can_change_unnoticed(data: st.DataObject) -> None:
    inputs = np.arange(6, dtype=np.float32).reshape(2, 3)
    with TemporaryDirectory() as directory:
        write_shards(Path(directory), inputs, np.array([1, 2]), n_shards=1)
        (shard,) = find_shards(Path(directory))
        content = bytearray(shard.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        shard.write_bytes(content)
        with pytest.raises(UserError):
            list(read_samples(shard))


@quick
@given(st.data())
def test_weights_come_back_in_their_order(data: st.DataObject) -> None:
    names = data.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    layers = [
        (name, [(weight, data.draw(numbers(array_shapes(max_dims=4, max_side=3)))) for weight in weights])
        for name in names
        for weights in [data.draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))]
    ]
    shapes = tuple(LayerShapes("Dense", tuple((w, array.shape) for w, array in weights)) for _, weights in layers)
    with TemporaryDirectory() as directory:
        file = Path(directory) / "weights.hdf5"
        write_weights(file, layers)
        architecture = Architecture(file, {}, tuple(names), tuple(range(len(names))))
        found = read_weights(file.read_bytes(), file, architecture, ModelShapes(shapes, (2,)))
    for array, expected in zip(found, [array for _, weights in layers for _, array in weights], strict=True):
        np.testing.assert_array_equal(array, expected)


@quick
@given(st.data())
def test_reference_data_come_back(data: st.DataObject) -> None:
    axes = data.draw(st.dictionaries(NAMES, st.lists(VALUES, min_size=1, max_size=3, unique=True), max_size=3))
    axes |= {"depth": [1, 2]}
    cells = [dict(zip(axes, cell, strict=True)) for cell in product(*axes.values())]
    accuracies = [data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1))) for _ in cells]
    entries = {
        str(number): reference_entry(axes, cell, {"train_acc": train, "test_acc": test})
        for number, (cell, (train, test)) in enumerate(zip(cells, accuracies, strict=True))
    }
    with TemporaryDirectory() as directory:
        file = Path(directory) / "reference" / "model_configs.json"
        write_reference(file, entries)
        found = read_reference(file)
    assert found.models == tuple(model_name(number) for number in entries)
    assert list(found.gaps.values()) == [train - test for train, test in accuracies]
    assert {name: list(values) for name, values in found.grid.values.items()} == axes


RANDOM = np.random.default_rng(0)
WEIGHTS = [
    ("conv2d", [("kernel", RANDOM.random((3, 3, 1, 2), np.float32)), ("bias", RANDOM.random(2, np.float32))]),
    ("dense", [("kernel", RANDOM.random((2, 4), np.float32))]),
]


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
