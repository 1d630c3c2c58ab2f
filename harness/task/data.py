"""A task's training data: decoded once, cached as two arrays, and memory-mapped when read."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from harness.cache import cache_directory, link_or_copy, locked
from harness.errors import UserError
from harness.format.layout import find_shards
from harness.format.problems import Problems
from harness.format.shards import count_samples, read_samples
from harness.task.digests import Digests

INPUTS, LABELS = "inputs.npy", "labels.npy"

#: Name of the finding that test data are valid.
CHECKED = "test data"


@dataclass(frozen=True)
class TrainingData:
    """The decoded training samples of a task, in the order of the shards.

    Attributes:
        source: directory of the shards.
        directory: contains inputs.npy, float32 (n_samples, *input_shape), and labels.npy, int32 (n_samples,).
        digest: SHA-256 over the shards.
    """

    source: Path
    directory: Path
    digest: str

    @cached_property
    def inputs(self) -> NDArray[np.float32]:
        """The inputs, memory-mapped."""
        return np.asarray(np.load(self.directory / INPUTS, mmap_mode="r"))

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The labels, memory-mapped."""
        return np.asarray(np.load(self.directory / LABELS, mmap_mode="r"))

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.labels)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return self.inputs.shape[1:]

    @property
    def n_classes(self) -> int:
        """Smallest number of classes that fits the labels: the largest label plus 1."""
        return int(self.labels.max()) + 1

    def write_canonical(self, directory: Path) -> None:
        """Write inputs.npy and labels.npy to `directory`, as links to the cached files if possible."""
        for name in (INPUTS, LABELS):
            link_or_copy(self.directory / name, directory / name)

    def check_labels(self, n_outputs: int) -> None:
        """Raise `UserError` unless every label is in 0..n_outputs-1."""
        _check_labels(find_shards(self.source), self.labels, n_outputs)


def read_training_data(source: Path) -> TrainingData:
    """Return the decoded shards of `source`, from the cache if possible.

    Raises:
        UserError: a shard is damaged or contains anything other than samples of one shape.
    """
    shards = find_shards(source)
    with Digests(source) as digests:
        digest = digests.of_data(shards)
    entry = cache_directory("training_data") / digest
    with locked(entry.with_suffix(".lock")):  # the next harness finds the shards decoded
        if not _is_whole(entry):
            _fill(entry, shards)
    return TrainingData(source, entry, digest)


def check_test_data(source: Path, input_shape: tuple[int, ...], n_outputs: int) -> None:
    """Check the test shards without caching their content, because no measure may ever see it.

    Raises:
        UserError: a shard is damaged, its samples differ in shape from the training samples, or a label is not
            in 0..n_outputs-1.
    """
    shards = find_shards(source)
    with Digests(source) as digests:
        digest = digests.of_data(shards)
        if digests.finding(CHECKED, digest, input_shape, n_outputs):
            return
        problems = Problems()
        labels = [problems.attempt(_copy, shard, input_shape, None) for shard in shards]
        problems.raise_if_any()
        _check_labels(shards, np.concatenate([part for part in labels if part is not None]), n_outputs)
        if digests.are_known(shards) and digests.of_data(shards) == digest:  # not modified meanwhile
            digests.record("valid", CHECKED, digest, input_shape, n_outputs)


def _is_whole(entry: Path) -> bool:
    """Whether the cache entry can be used; NumPy notices a file that is too short for its header."""
    try:
        inputs, labels = (np.load(entry / name, mmap_mode="r") for name in (INPUTS, LABELS))
    except (OSError, ValueError, EOFError):
        return False
    return len(inputs) == len(labels) > 0


def _fill(entry: Path, shards: Sequence[Path]) -> None:
    """Decode into a temporary directory and rename it, so that an incomplete entry is never visible."""
    partial = entry.with_suffix(".partial")  # left by a killed harness if it exists: we hold the lock
    for leftover in (partial, entry):
        shutil.rmtree(leftover, ignore_errors=True)
    partial.mkdir()
    try:
        decode(shards, partial)
    except OSError as error:
        remedy = "free some space, or set PGDL_CACHE to another directory"
        raise UserError("cannot write the decoded data", file=entry, found=error.strerror, remedy=remedy) from error
    else:
        partial.replace(entry)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def decode(shards: Sequence[Path], directory: Path) -> None:
    """Check shards and write their samples to inputs.npy and labels.npy; raises `UserError`."""
    problems = Problems()
    counts = [problems.attempt(count_samples, shard) for shard in shards]
    shapes = (problems.attempt(_input_shape, shard) for shard, count in zip(shards, counts, strict=True) if count)
    shape = next((shape for shape in shapes if shape is not None), ())
    with (directory / INPUTS).open("wb") as stream:
        header = {
            "descr": "<f4",
            "fortran_order": False,
            "shape": (sum(count or 0 for count in counts), *shape),
        }
        write_array_header_1_0(stream, header)
        labels = [
            problems.attempt(_copy, shard, shape, stream) for shard, count in zip(shards, counts, strict=True) if count
        ]
        problems.raise_if_any()
        stream.flush()
        os.fsync(stream.fileno())
    np.save(directory / LABELS, np.concatenate([part for part in labels if part is not None]))


def _input_shape(shard: Path) -> tuple[int, ...]:
    return next(read_samples(shard))[0].shape


def _copy(shard: Path, shape: tuple[int, ...], sink: BinaryIO | None) -> NDArray[np.int32]:
    """Check one shard's samples, append its inputs to `sink`, and return its labels."""
    labels = []
    for inputs, label in read_samples(shard):
        if inputs.shape != shape:
            raise UserError("shape of the inputs", file=shard, expected=shape, found=inputs.shape)
        if sink is not None:
            sink.write(inputs.data)
        labels.append(label)
    return np.array(labels, np.int32)


def _check_labels(shards: Sequence[Path], labels: NDArray[np.int32], n_outputs: int) -> None:
    """Raise `UserError` for a label out of range; `labels` are those of all shards, concatenated."""
    wrong = np.flatnonzero((labels < 0) | (labels >= n_outputs))
    if not len(wrong):
        return
    record = int(wrong[0])
    for shard in shards:
        count = count_samples(shard)
        if record < count:
            expected = f"0..{n_outputs - 1}, because the models have {n_outputs} outputs"
            raise UserError(f"record {record}: label", file=shard, expected=expected, found=labels[wrong[0]])
        record -= count
