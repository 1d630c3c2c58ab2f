"""The training data have the form that people of each framework expect."""

from pathlib import Path

import numpy as np
import pytest

from harness.worker.runtimes import RUNTIMES

INPUTS = np.arange(40, dtype=np.float32).reshape(10, 4)
LABELS = np.arange(10, dtype=np.int32) % 3


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.save(tmp_path / "inputs.npy", INPUTS)
    np.save(tmp_path / "labels.npy", LABELS)
    return tmp_path


def test_jax_a_sequence_of_arrays(data: Path) -> None:
    dataset = RUNTIMES["jax"].load_dataset(data)
    assert len(dataset) == 10
    sample, label = dataset[3]
    assert (type(sample), sample.dtype, label.dtype) == (np.ndarray, np.float32, np.int32)
    np.testing.assert_array_equal(np.stack([sample for sample, _ in dataset]), INPUTS)
    np.testing.assert_array_equal(dataset.inputs, INPUTS)
    np.testing.assert_array_equal(dataset[-3:].labels, LABELS[-3:])
    with pytest.raises(IndexError):
        dataset[10]


def test_jax_batches(data: Path) -> None:
    dataset = RUNTIMES["jax"].load_dataset(data)
    batches = list(dataset.batches(4))
    assert [len(labels) for _, labels in batches] == [4, 4, 2]
    np.testing.assert_array_equal(np.concatenate([inputs for inputs, _ in batches]), INPUTS)
    assert list(dataset[:0].batches(4)) == []
    with pytest.raises(ValueError, match="size: expected a positive number, found 0"):
        next(dataset.batches(0))


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


def test_the_files_stay_as_they_are_when_tensors_are_changed(data: Path) -> None:
    pytest.importorskip("torch")
    RUNTIMES["torch"].load_dataset(data).tensors[0].zero_()
    RUNTIMES["jax"].load_dataset(data).inputs[:] = 0
    np.testing.assert_array_equal(np.load(data / "inputs.npy"), INPUTS)
