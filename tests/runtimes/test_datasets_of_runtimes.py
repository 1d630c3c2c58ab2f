"""Tests that the training data have the form that users of each framework expect."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.worker.dataset_errors import WAYS as WAYS_TO_EXAMPLES
from harness.worker.dataset_errors import dataset_advice, refuse_single_example
from harness.worker.runtimes import RUNTIMES

INPUTS = np.arange(40, dtype=np.float32).reshape(10, 4)
LABELS = np.arange(10, dtype=np.int32) % 3


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.save(tmp_path / "inputs.npy", INPUTS)
    np.save(tmp_path / "labels.npy", LABELS)
    return tmp_path


def test_jax_a_sequence_of_arrays_and_batches(data: Path) -> None:
    dataset = RUNTIMES["jax"].load_dataset(data)
    assert len(dataset) == 10
    sample, label = dataset[3]
    assert (type(sample), sample.dtype, label.dtype) == (np.ndarray, np.float32, np.int32)
    np.testing.assert_array_equal(np.stack([sample for sample, _ in dataset]), INPUTS)
    np.testing.assert_array_equal(dataset.inputs, INPUTS)
    np.testing.assert_array_equal(dataset[-3:].labels, LABELS[-3:])
    with pytest.raises(IndexError):
        dataset[10]
    batches = list(dataset.batches(4))
    assert [len(labels) for _, labels in batches] == [4, 4, 2]
    np.testing.assert_array_equal(np.concatenate([inputs for inputs, _ in batches]), INPUTS)
    assert list(dataset[:0].batches(4)) == []
    with pytest.raises(ValueError, match="size: expected a positive number, found 0"):
        next(dataset.batches(0))


@pytest.mark.rest
def test_torch_a_map_style_dataset(data: Path) -> None:
    torch = pytest.importorskip("torch")
    dataset = RUNTIMES["torch"].load_dataset(data)
    assert isinstance(dataset, torch.utils.data.Dataset)
    assert len(dataset) == 10
    sample, label = dataset[3]
    assert (sample.dtype, label.dtype, label.shape) == (torch.float32, torch.int64, ())
    inputs, labels = next(iter(torch.utils.data.DataLoader(dataset, batch_size=10)))
    np.testing.assert_array_equal(inputs.numpy(), INPUTS)
    np.testing.assert_array_equal(labels.numpy(), LABELS)


#: Uses of a dataset by a measure.
WAYS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda dataset: dataset,
    "again": lambda dataset: dataset.repeat(2),
    "batches": lambda dataset: dataset.batch(100),
    "part of a block": lambda dataset: dataset.skip(250).take(20).batch(7),
    "shard": lambda dataset: dataset.shard(3, 1).batch(32, drop_remainder=True),
    "shuffled": lambda dataset: dataset.shuffle(300, seed=3).batch(64),
    "mapped": lambda dataset: dataset.map(lambda x, y: (x + 1, y)).prefetch(2),
    "pairs": lambda dataset: dataset.batch(2).unbatch().shuffle(10_000, seed=1).take(40),
}


@pytest.mark.rest
@pytest.mark.parametrize("way", WAYS)
def test_tensorflow_a_dataset_like_that_of_slices(way: str, tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    inputs, labels = np.random.default_rng(0).random((600, 4, 3), np.float32), np.arange(600, dtype=np.int32) % 7
    np.save(tmp_path / "inputs.npy", inputs)
    np.save(tmp_path / "labels.npy", labels)
    found = WAYS[way](RUNTIMES["tensorflow"].load_dataset(tmp_path))
    wanted = WAYS[way](tf.data.Dataset.from_tensor_slices((inputs, labels)))
    assert isinstance(found, tf.data.Dataset)
    assert found.element_spec == wanted.element_spec
    assert int(found.cardinality()) == int(wanted.cardinality())
    for _ in range(2):  # shuffled anew each time
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(ours[0], theirs[0])
            np.testing.assert_array_equal(ours[1], theirs[1])


def test_tensorflow_reads_inputs_larger_than_a_block(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    inputs = np.random.default_rng(0).random((3, 1100, 1024), np.float32)
    np.save(tmp_path / "inputs.npy", inputs)
    np.save(tmp_path / "labels.npy", np.arange(3, dtype=np.int32))
    for (image, label), wanted in zip(RUNTIMES["tensorflow"].load_dataset(tmp_path), inputs, strict=True):
        np.testing.assert_array_equal(image, wanted)
        assert label.shape == ()


def test_tensorflow_has_arrays_and_files_stay_as_they_are_when_tensors_are_changed(data: Path) -> None:
    pytest.importorskip("tensorflow")
    inputs, labels = RUNTIMES["tensorflow"].load_dataset(data).arrays
    np.testing.assert_array_equal(inputs, INPUTS)
    np.testing.assert_array_equal(labels, LABELS)
    pytest.importorskip("torch")
    RUNTIMES["torch"].load_dataset(data).tensors[0].zero_()
    RUNTIMES["jax"].load_dataset(data).inputs[:] = 0
    np.testing.assert_array_equal(np.load(data / "inputs.npy"), INPUTS)


def unpacks(dataset: Any) -> Any:
    inputs, labels = dataset  # in a line of its own
    return inputs, labels


def unpacks_numbers(dataset: Any) -> Any:
    inputs, labels = [1, 2, 3]
    return inputs, labels, dataset


@pytest.mark.parametrize(
    ("tried", "is_advised"),
    [(lambda dataset: dataset[0], True), (lambda dataset: dataset.shape, True), (next, True), (unpacks, True),
     (lambda dataset: dataset / 2, True), (unpacks_numbers, False), (lambda dataset: (1).shape, False),
     (lambda dataset: int("x"), False)],
)  # fmt: skip
def test_tensorflow_an_error_of_a_dataset_names_what_to_write(
    tried: Callable[[Any], Any], is_advised: bool, data: Path
) -> None:
    pytest.importorskip("tensorflow")
    with pytest.raises((TypeError, AttributeError, ValueError)) as raised:
        tried(RUNTIMES["tensorflow"].load_dataset(data))
    assert dataset_advice(raised.value) == (WAYS_TO_EXAMPLES if is_advised else "")


def test_a_single_example_is_refused_and_a_batch_is_not(data: Path) -> None:
    pytest.importorskip("tensorflow")
    refuse_single_example(INPUTS[:1], (4,))
    refuse_single_example([1.0], (4,))
    with pytest.raises(ValueError, match=r"given a single example of shape \(4,\): write `dataset.batch\(512\)`"):
        refuse_single_example(INPUTS[0], (4,))
    with pytest.raises(ValueError, match="given a data set"):
        refuse_single_example(RUNTIMES["tensorflow"].load_dataset(data), (4,))
