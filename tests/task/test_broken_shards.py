"""Tests of broken shards: a line names the file, the expected and the found content."""

import shutil

import numpy as np
import pytest
from throwaway import example, tensor, write_records

from harness.format.shards import TensorProto, read_samples

TRAIN, TEST = "dataset_1/train/shard_1.tfrecord", "dataset_1/test/shard_0.tfrecord"

ZEROS = tensor(np.zeros(4, np.float32))
LABEL_0 = tensor(np.int32(0))
GOOD = example(inputs=ZEROS, output=LABEL_0)
OF_FIVE = example(inputs=tensor(np.zeros(5, np.float32)), output=LABEL_0)


def short_tensor():
    """Return a tensor with a single number, although its shape needs four."""
    tensor_of_one = TensorProto.FromString(ZEROS)
    tensor_of_one.tensor_content = b"1234"
    return tensor_of_one.SerializeToString()


def listing(*shape, numbers=(1.0,)):
    """Return a tensor that lists numbers; if it lists fewer than its shape needs, the last number counts repeatedly."""
    listed = TensorProto(dtype=1, float_val=numbers)
    for size in shape:
        listed.tensor_shape.dim.add(size=size)
    return listed.SerializeToString()


def records(*payloads, file=TRAIN):
    return lambda task: write_records(task / file, payloads)


def inputs(values):
    """Write a good sample, then a sample with other inputs."""
    return records(GOOD, example(inputs=values, output=LABEL_0))


def label(value, file=TRAIN):
    return records(GOOD, example(inputs=ZEROS, output=tensor(value)), file=file)


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


NO_EXAMPLE, OTHER_SHAPE = "expected a tf.train.Example of serialized tensors", "expected shape (4,) as of others, found"

CASES = [
    (cut(200), "record 2: truncated: expected at least 252 bytes, found 200"),
    (cut(0), "expected at least 1 record, found 0 bytes"),
    *((flipped_bit(position), "record 0: checksum: expected 0x") for position in (0, 40)),  # of the length, the payload
    (records(b"\xff"), f"payload: {NO_EXAMPLE}"),
    (records(example(inputs=ZEROS)), "expected inputs and output, found inputs"),
    (inputs(b"\xff"), NO_EXAMPLE),
    (label(np.float32(0)), "output: expected int32, found float32"),
    (label(np.zeros(1, np.int32)), "expected a scalar, found shape (1,)"),
    (inputs(tensor(np.zeros(4, np.int32))), "expected float32, found int32"),
    (inputs(short_tensor()), "expected 4 numbers for shape (4,), found 1"),
    (inputs(listing(10**6, 10**6)), "shape of inputs: expected at most 8 axes and"),
    (inputs(listing(-1, -1)), "67108864 numbers, found (-1, -1)"),
    (inputs(listing(*[1] * 100)), "found (1, 1, 1, 1, 1, 1, ...)"),
    (inputs(listing(-2, -2, numbers=[1.0] * 4)), "record 1: shape of inputs: expected at most 8 axes"),
    (records(GOOD, OF_FIVE), f"record 1: inputs: {OTHER_SHAPE} (5,)"),
    (records(OF_FIVE), f"record 0: inputs: {OTHER_SHAPE} (5,)"),  # as in another shard
    (inputs(tensor(np.full(4, np.inf, np.float32))), "expected finite numbers, found NaN"),
    (label(np.int32(3)), "record 1: label: expected 0..2, because the models have 3 outputs, found 3"),
    (label(np.int32(-1)), "expected 0..2, because the models have 3"),
    (dangling, "cannot be read: found No such file or directory"),
]
TEST_CASES = [
    (records(example(inputs=ZEROS), file=TEST), "expected inputs and output, found inputs"),
    (records(OF_FIVE, file=TEST), f"{OTHER_SHAPE} (5,)"),
    (label(np.int32(3), TEST), "record 1: label: expected 0..2"),
]


@pytest.mark.parametrize(
    ("file", "break_it", "message"),
    [(file, *one) for file, some in ((TRAIN, CASES), (TEST, TEST_CASES)) for one in some],
)
def test_broken_shard(refused, file, break_it, message, task):
    break_it(task)
    refused(task, file, message)


def test_no_shards(refused, task):
    shutil.rmtree(task / "dataset_1/train")
    refused(task, "dataset_1/train", "expected shard_*.tfrecord, found no such directory")


def test_numbers_in_fields_of_their_own_are_read_too(tmp_path):
    """Tensors may come as lists of numbers, in which TensorFlow leaves out repetitions of the last number."""
    label = TensorProto(dtype=3, int_val=[2]).SerializeToString()
    write_records(tmp_path / "shard_0.tfrecord", [example(inputs=listing(4, numbers=[1.0, 2.0]), output=label)])
    [(values, read_label)] = read_samples(tmp_path / "shard_0.tfrecord")
    assert (values.tolist(), read_label) == ([1.0, 2.0, 2.0, 2.0], 2)
