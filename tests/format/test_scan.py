"""A shard that is read once gives the samples that are read one by one."""

import hashlib
import itertools

import numpy as np
import pytest
from throwaway import example, tensor, write_records

from harness.errors import UserError
from harness.format.messages import TensorProto
from harness.format.scan import BLOCK_BYTES, scan_shard
from harness.format.shards import read_samples

SHAPE = (4,)


def as_list(array, kind, **values):
    """A tensor whose numbers are listed in a field of their type."""
    proto = TensorProto(dtype=kind, **values)
    for size in np.shape(array):
        proto.tensor_shape.dim.add(size=size)
    return proto.SerializeToString()


def payloads(n_samples=40):
    """Samples in all the forms in which TensorFlow may have written them."""
    random = np.random.default_rng(0)
    for number, order, label in itertools.islice(itertools.product(range(9), (1, -1), range(3)), n_samples):
        inputs = random.normal(size=SHAPE).astype(np.float32)
        inputs = np.zeros(SHAPE, np.float32) if number == 2 else inputs
        listed = as_list(inputs, 1, float_val=inputs.tolist())
        features = {
            "inputs": listed if number == 3 else tensor(inputs),
            "output": as_list(0, 3, int_val=[label]) if number == 4 else tensor(np.int32(label)),
        }
        if number == 5:  # the same numbers occur once more
            features["another"] = tensor(inputs)
        yield from [example(**dict(list(features.items())[::order]))]


def scanned(file, shape=SHAPE):
    parts = []
    found = scan_shard(file, shape, lambda number, inputs: parts.append((number, inputs.copy())))
    assert [number for number, _ in parts] == list(itertools.accumulate([0, *(len(some) for _, some in parts[:-1])]))
    return np.concatenate([some for _, some in parts]), found


def test_samples_and_digest_are_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.format.scan.BLOCK_BYTES", 7 * 16)
    file = tmp_path / "shard_0.tfrecord"
    write_records(file, list(payloads()))
    inputs, found = scanned(file)
    expected = list(read_samples(file))
    np.testing.assert_array_equal(inputs, [one for one, _ in expected])
    assert found.labels.tolist() == [label for _, label in expected]
    assert found.digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_numbers_without_a_shape_are_samples_too(tmp_path):
    file = tmp_path / "shard_0.tfrecord"
    write_records(file, [example(inputs=tensor(np.float32(i)), output=tensor(np.int32(0))) for i in range(3)])
    inputs, _ = scanned(file, ())
    assert inputs.tolist() == [0.0, 1.0, 2.0]


def test_bytes_that_look_like_the_inputs_are_not_taken_for_them(tmp_path):
    """The first sample has its numbers in two places, the second has them in one of these alone."""
    first, second = (np.full(SHAPE, value, np.float32) for value in (1.0, 2.0))
    label = tensor(np.int32(1))
    samples = [example(a=tensor(first), inputs=tensor(inputs), output=label) for inputs in (first, second)]
    write_records(tmp_path / "shard_0.tfrecord", [samples[0], samples[1], samples[1]])
    inputs, _ = scanned(tmp_path / "shard_0.tfrecord")
    np.testing.assert_array_equal(inputs, [first, second, second])


def test_the_first_record_that_is_wrong_is_named(tmp_path):
    label = tensor(np.int32(0))
    good, infinite = (example(inputs=tensor(np.full(4, value, np.float32)), output=label) for value in (0, np.inf))
    file = tmp_path / "shard_0.tfrecord"
    write_records(file, [good, good, infinite, b"\xff"])
    with pytest.raises(UserError, match="record 2: inputs: expected finite numbers"):
        scan_shard(file, SHAPE)
    write_records(file, [good, b"\xff", infinite])
    with pytest.raises(UserError, match="record 1: payload"):
        scan_shard(file, SHAPE)


def test_samples_larger_than_a_block_come_one_by_one(tmp_path):
    size = BLOCK_BYTES // 4 + 1
    file = tmp_path / "shard_0.tfrecord"
    images = np.arange(2 * size, dtype=np.float32).reshape(2, size)
    write_records(file, [example(inputs=tensor(one), output=tensor(np.int32(0))) for one in images])
    inputs, _ = scanned(file, (size,))
    np.testing.assert_array_equal(inputs, images)
