"""Tests of broken shards and weights: a line names the file, the expected and the found content."""

import shutil

import h5py
import numpy as np
import pytest
from throwaway import dense_weights, example, tensor, write_records, write_weights

from harness.format.shards import TensorProto, read_samples

TRAIN, TEST = "dataset_1/train/shard_1.tfrecord", "dataset_1/test/shard_0.tfrecord"

ZEROS = tensor(np.zeros(4, np.float32))
FIVE_ZEROS = tensor(np.zeros(5, np.float32))
LABEL_0 = tensor(np.int32(0))
GOOD = example(inputs=ZEROS, output=LABEL_0)


def short_tensor():
    """Return a tensor with a single number, although its shape needs four."""
    tensor_of_one = TensorProto.FromString(ZEROS)
    tensor_of_one.tensor_content = b"1234"
    return tensor_of_one.SerializeToString()


def declaring(*shape, numbers=(1.0,)):
    """Return a tensor that lists fewer numbers than its shape needs: the last number counts repeatedly."""
    listed = TensorProto(dtype=1, float_val=numbers)
    for size in shape:
        listed.tensor_shape.dim.add(size=size)
    return listed.SerializeToString()


def records(*payloads, file=TRAIN):
    return lambda task: write_records(task / file, payloads)


def features(file=TRAIN, **values):
    """Write a good sample, then a sample with other features."""
    return records(GOOD, example(**{"inputs": ZEROS, "output": LABEL_0, **values}), file=file)


def cut(n_bytes):
    return lambda task: (task / TRAIN).write_bytes((task / TRAIN).read_bytes()[:n_bytes])


def flipped_bit(position):
    def flip(task):
        content = bytearray((task / TRAIN).read_bytes())
        content[position] ^= 1
        (task / TRAIN).write_bytes(content)

    return flip


def dangling(task):
    (task / TRAIN).unlink()
    (task / TRAIN).symlink_to("nowhere")


CASES = [
    ("truncated", TRAIN, cut(200), "record 2: truncated: expected at least 252 bytes, found 200"),
    ("empty", TRAIN, cut(0), "expected at least 1 record, found 0 bytes"),
    ("damaged length", TRAIN, flipped_bit(0), "record 0: checksum: expected 0x"),
    ("damaged payload", TRAIN, flipped_bit(40), "record 0: checksum: expected 0x"),
    ("no Example", TRAIN, records(b"\xff"), "payload: expected a tf.train.Example of serialized tensors"),
    ("no label", TRAIN, records(example(inputs=ZEROS)), "expected inputs and output, found inputs"),
    ("no tensor", TRAIN, features(inputs=b"\xff"), "expected a tf.train.Example of serialized tensors"),
    ("float label", TRAIN, features(output=tensor(np.float32(0))), "output: expected int32, found float32"),
    ("vector label", TRAIN, features(output=tensor(np.zeros(1, np.int32))), "expected a scalar, found shape (1,)"),
    ("integers", TRAIN, features(inputs=tensor(np.zeros(4, np.int32))), "expected float32, found int32"),
    ("too short", TRAIN, features(inputs=short_tensor()), "expected 4 numbers for shape (4,), found 1"),
    ("enormous", TRAIN, features(inputs=declaring(10**6, 10**6)), "shape of inputs: expected at most 8 axes and"),
    ("negative shape", TRAIN, features(inputs=declaring(-1, -1)), "67108864 numbers, found (-1, -1)"),
    ("many axes", TRAIN, features(inputs=declaring(*[1] * 100)), "found (1, 1, 1, 1, 1, 1, ...)"),
    (
        "negative shape of as many numbers",
        TRAIN,
        features(inputs=declaring(-2, -2, numbers=[1.0] * 4)),
        "record 1: shape of inputs: expected at most 8 axes",
    ),
    ("shape", TRAIN, features(inputs=FIVE_ZEROS), "record 1: inputs: expected shape (4,) as of others, found (5,)"),
    (
        "shape of another shard",
        TRAIN,
        records(example(inputs=FIVE_ZEROS, output=LABEL_0)),
        "record 0: inputs: expected shape (4,) as of others, found (5,)",
    ),
    (
        "not finite",
        TRAIN,
        features(inputs=tensor(np.full(4, np.inf, np.float32))),
        "expected finite numbers, found NaN",
    ),
    (
        "label too large",
        TRAIN,
        features(output=tensor(np.int32(3))),
        "record 1: label: expected 0..2, because the models have 3 outputs, found 3",
    ),
    ("negative label", TRAIN, features(output=tensor(np.int32(-1))), "expected 0..2, because the models have 3"),
    ("test: no label", TEST, records(example(inputs=ZEROS), file=TEST), "expected inputs and output, found inputs"),
    (
        "test: shape",
        TEST,
        records(example(inputs=FIVE_ZEROS, output=LABEL_0), file=TEST),
        "expected shape (4,) as of others, found (5,)",
    ),
    ("test: label", TEST, features(TEST, output=tensor(np.int32(3))), "record 1: label: expected 0..2"),
    ("dangling link", TRAIN, dangling, "cannot be read: found No such file or directory"),
    (
        "no shards",
        "dataset_1/train",
        lambda task: shutil.rmtree(task / "dataset_1/train"),
        "expected shard_*.tfrecord, found no such directory",
    ),
]


@pytest.mark.parametrize(("file", "break_it", "message"), [pytest.param(*case, id=name) for name, *case in CASES])
def test_broken_shard(refused, file, break_it, message, task):
    break_it(task)
    refused(task, file, message)


def test_numbers_in_fields_of_their_own_are_read_too(tmp_path):
    """Tensors may come as lists of numbers, in which TensorFlow leaves out repetitions of the last number."""
    inputs = TensorProto(dtype=1, float_val=[1.0, 2.0])
    inputs.tensor_shape.dim.add(size=4)
    label = TensorProto(dtype=3, int_val=[2])
    payload = example(inputs=inputs.SerializeToString(), output=label.SerializeToString())
    write_records(tmp_path / "shard_0.tfrecord", [payload])
    [(values, read_label)] = read_samples(tmp_path / "shard_0.tfrecord")
    assert values.tolist() == [1.0, 2.0, 2.0, 2.0]
    assert read_label == 2


WEIGHTS = "model_3/weights.hdf5"
LAYERS = [{"units": 6}, {"units": 6}, {"units": 3}]  # of model_3


def stored(content):
    return lambda task: (task / WEIGHTS).write_bytes(content)


def edited(change, mode="a"):
    def edit(task):
        with h5py.File(task / WEIGHTS, mode) as file:
            change(file)

    return edit


def weighted(change):
    """Return a function that writes the layers' arrays after a change."""

    def write(task):
        weights = dense_weights(LAYERS, np.random.default_rng(1))
        change(weights)
        write_weights(task / WEIGHTS, weights)

    return write


def with_low_rank_update(file):
    """Add arrays of LoRA beside the kernel in a weight file."""
    names = [*file["dense"].attrs["weight_names"], b"dense/lora_kernel_a", b"dense/lora_kernel_b"]
    file["dense"].attrs["weight_names"] = names
    file["dense/dense/lora_kernel_a"], file["dense/dense/lora_kernel_b"] = np.zeros((4, 2)), np.zeros((2, 6))


BROKEN_WEIGHTS = [
    ("missing", lambda task: (task / WEIGHTS).unlink(), "expected a file, found nothing"),
    (
        "truncated",
        lambda task: stored((task / WEIGHTS).read_bytes()[:3000])(task),
        "expected a whole HDF5 file, found 3000 bytes",
    ),
    ("empty", stored(b""), "expected an HDF5 file of weights, found an empty file"),
    ("not HDF5", stored(b"PK zip file"), "expected an HDF5 file of weights, found a file that starts otherwise"),
    (
        "layout of Keras 3",
        edited(lambda file: file.create_dataset("layers/dense/vars/0", data=np.zeros((4, 6))), "w"),
        "expected the HDF5 layout of Keras 2, found the .weights.h5 layout of Keras 3; "
        "write it with model.save('weights.hdf5') of Keras 3",
    ),
    (
        "no layout",
        edited(lambda file: file.create_dataset("kernel", data=np.zeros((4, 6))), "w"),
        "expected the HDF5 layout of Keras 2, found no attribute layer_names",
    ),
    (
        "group missing",
        edited(lambda file: file.pop("dense_1")),
        "layer dense_1: expected a group of that name, found none",
    ),
    (
        "array missing",
        edited(lambda file: file.pop("dense_1/dense_1/weight_0:0")),
        "weight dense_1/weight_0:0: expected an array of that name, found none",
    ),
    ("too few layers", weighted(list.pop), "expected 6 arrays in 3 layers, found 4 arrays in 2 layers"),
    (
        "no bias",
        weighted(lambda weights: weights[1].pop()),
        "layer 1 (Dense), 'dense_1' in the file: expected 2 arrays (kernel, bias), found 1",
    ),
    (
        "low-rank update",
        edited(with_low_rank_update),
        "expected 2 arrays (kernel, bias), found 4; add the low-rank update (LoRA) to the kernel",
    ),
    (
        "wrong shape",
        weighted(lambda weights: weights[0].__setitem__(0, np.zeros((4, 5), np.float32))),
        "layer 0 (Dense), 'dense' in the file: kernel: expected shape (4, 6), found (4, 5)",
    ),
    (
        "not finite",
        weighted(lambda weights: weights[2][1].__setitem__(0, np.nan)),
        "weight dense_2/weight_1:0: expected finite numbers, found 1 of 3 NaN or infinite",
    ),
    (
        "integers",
        weighted(lambda weights: weights[0].__setitem__(1, np.zeros(6, np.int32))),
        "weight dense/weight_1:0: expected floating-point numbers, found int32",
    ),
]


@pytest.mark.parametrize(("break_it", "message"), [pytest.param(*case, id=name) for name, *case in BROKEN_WEIGHTS])
def test_broken_weights(refused, break_it, message, task):
    break_it(task)
    refused(task, WEIGHTS, message)


def test_broken_initial_weights(refused, task):
    (task / "model_3/weights_init.hdf5").write_bytes(b"")
    refused(task, "model_3/weights_init.hdf5", "found an empty file")
