"""A task's training data: decoded from shards once, kept in the cache as two arrays, and memory-mapped by readers."""

import hashlib
import itertools
import math
import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from harness.cache import cache_directory, link_or_copy, locked
from harness.cores import available_cores
from harness.digest import code_of, digest_of
from harness.errors import UserError, remedy_of
from harness.format.layout import find_shards
from harness.format.problems import Problems
from harness.format.scan import Inputs, Scanned, Sink, scan_shard
from harness.format.shards import count_samples, expected_samples, read_samples
from harness.task.digests import Digests, data_digest

#: Files with the inputs, float32 (n_samples, *input_shape), and with the labels, int32 (n_samples,).
INPUTS, LABELS = "inputs.npy", "labels.npy"

#: File in an entry of the cache with the digest of the code that made the entry, and the files of this code.
MADE_BY = "made_by"
DECODER = (*(Path(__file__).parents[1] / "format" / name for name in ("scan.py", "shards.py")), Path(__file__))

#: Name under which the cache notes that test data are valid.
CHECKED = "test data"


@dataclass(frozen=True)
class TrainingData:
    """The training examples of a task as arrays, in the order of the shards."""

    source: Path  #: directory of the shards
    directory: Path  #: contains the files `INPUTS` and `LABELS`
    digest: str  #: SHA-256 over all shards

    @cached_property
    def inputs(self) -> NDArray[np.float32]:
        """The inputs (n_samples, *input_shape), memory-mapped."""
        return np.asarray(np.load(self.directory / INPUTS, mmap_mode="r"))

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The labels (n_samples,), memory-mapped."""
        return np.asarray(np.load(self.directory / LABELS, mmap_mode="r"))

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return len(self.labels)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, without the batch axis."""
        return self.inputs.shape[1:]

    @property
    def n_classes(self) -> int:
        """The largest label plus 1: the smallest number of classes that is possible."""
        return int(self.labels.max()) + 1

    def write_canonical(self, directory: Path) -> None:
        """Write inputs.npy and labels.npy into `directory`; if possible, as links to files in the cache."""
        for name in (INPUTS, LABELS):
            link_or_copy(self.directory / name, directory / name)


def read_training_data(source: Path) -> TrainingData:
    """Return the decoded shards of the directory `source`. If the cache has them, no shard is read.

    Raises `UserError` if a shard is damaged, or examples have different shapes.
    """
    shards, root = find_shards(source), cache_directory("training_data")
    alike = root / hashlib.sha256(repr([shard.stat().st_size for shard in shards]).encode()).hexdigest()
    # a lock file shows that shards of these sizes were decoded before, perhaps the same shards in another place
    may_be_known = alike.with_suffix(".lock").exists()
    with locked(alike.with_suffix(".lock")), Digests(source) as digests:  # another harness waits, and finds the result
        digest = digests.of_data(shards) if may_be_known or digests.are_known(shards) else None
        if digest is None or not _is_whole(root / digest):
            digest = _fill(root, alike.with_suffix(".partial"), shards, digests)
    return TrainingData(source, root / digest, digest)


def check_test_data(source: Path, input_shape: tuple[int, ...], n_outputs: int) -> None:
    """Check the test data. Nothing is cached, because no measure may see test data.

    Raises `UserError` if a shard is damaged, an example has another shape than `input_shape`, or a label is not in
    0..n_outputs-1.
    """
    shards = find_shards(source)
    with Digests(source) as digests:
        if digests.are_known(shards) and digests.finding(CHECKED, digests.of_data(shards), input_shape, n_outputs):
            return
        scanned = scan_shards(shards, input_shape, digests, Problems())
        check_labels(shards, np.concatenate([one.labels for one in scanned]), n_outputs)
        if digests.are_known(shards):
            digests.record("valid", CHECKED, data_digest([one.digest for one in scanned]), input_shape, n_outputs)


def _is_whole(entry: Path) -> bool:
    """Whether this code made an entry of the cache, with two whole arrays; NumPy refuses an array that is cut off."""
    try:
        inputs, labels = (np.load(entry / name, mmap_mode="r") for name in (INPUTS, LABELS))
        made_by = (entry / MADE_BY).read_text(encoding="utf-8")
    except (OSError, ValueError, EOFError):
        return False
    return made_by == _decoder() and len(inputs) == len(labels) > 0


@cache
def _decoder() -> str:
    return digest_of((file.name, code_of(file.read_bytes())) for file in DECODER)


def _fill(root: Path, partial: Path, shards: Sequence[Path], digests: Digests) -> str:
    """Decode shards into a new entry of the cache. Return the digest of the shards, which is the entry's name."""
    shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed; the caller holds the lock
    partial.mkdir()
    try:
        digest = decode(shards, partial, digests)
        (partial / MADE_BY).write_text(_decoder(), encoding="utf-8")
        if not _is_whole(root / digest):
            shutil.rmtree(root / digest, ignore_errors=True)
            partial.replace(root / digest)
    except OSError as error:
        remedy = remedy_of(error, "free some space, or set PGDL_CACHE to another directory")
        raise UserError("cannot write the decoded data", file=partial, found=error.strerror, remedy=remedy) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return digest


def check_labels(shards: Sequence[Path], labels: NDArray[np.int32], n_outputs: int) -> None:
    """Raise `UserError` if one of `labels`, the labels of all shards in order, is not in 0..n_outputs-1."""
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


def decode(shards: Sequence[Path], directory: Path, digests: Digests) -> str:
    """Write the examples of shards as inputs.npy and labels.npy, and return the digest of the shards."""
    problems = Problems()
    counts = [problems.attempt(expected_samples, shard) or 0 for shard in shards]
    shapes = (problems.attempt(_input_shape, shard) for shard, count in zip(shards, counts, strict=True) if count)
    shape = next((shape for shape in shapes if shape is not None), ())
    readable = [shard for shard, count in zip(shards, counts, strict=True) if count]
    with (directory / INPUTS).open("wb") as stream:
        scanned = _write_inputs(stream, readable, shape, [count for count in counts if count], digests, problems)
        found = [len(one.labels) for one in scanned]
        if found != counts:  # the expected number, from the size of a shard, was wrong
            stream.seek(0)
            scanned = _write_inputs(stream, shards, shape, found, digests, problems)
            stream.truncate(stream.tell() + 4 * math.prod(shape) * sum(found))
        os.fsync(stream.fileno())
    np.save(directory / LABELS, np.concatenate([one.labels for one in scanned]))
    return data_digest([one.digest for one in scanned])


def _write_inputs(
    stream: BinaryIO, shards: Sequence[Path], shape: tuple[int, ...], counts: Sequence[int], digests: Digests,
    problems: Problems,
) -> list[Scanned]:  # fmt: skip
    """Write the inputs of all shards as one array file. Return labels and digest of each shard."""
    write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (sum(counts), *shape)})
    stream.flush()
    size = 4 * math.prod(shape)
    starts = list(itertools.accumulate((size * count for count in counts), initial=stream.tell()))

    def sink_of(position: int) -> Sink:
        return lambda number, inputs: _write_at(stream.fileno(), inputs, starts[position] + size * number)

    return scan_shards(shards, shape, digests, problems, sink_of)


def _write_at(descriptor: int, inputs: Inputs, place: int) -> None:
    content = memoryview(inputs.reshape(-1).view(np.uint8).data)
    while len(content):
        written = os.pwrite(descriptor, content, place)
        content, place = content[written:], place + written


def scan_shards(
    shards: Sequence[Path],
    shape: tuple[int, ...],
    digests: Digests,
    problems: Problems,
    sink_of: Callable[[int], Sink] = lambda _position: lambda _number, _inputs: None,
) -> list[Scanned]:
    """Return labels and digest of each shard, and pass the inputs of shard number `n` to `sink_of(n)`.

    Each shard is read once. Raises `InvalidTaskError` with the first problem of each shard.
    """

    def scan(position: int) -> Scanned:
        def read(shard: Path) -> tuple[Scanned, str]:
            found = scan_shard(shard, shape, sink_of(position))
            return found, found.digest

        return digests.reading(shards[position], read)[0]

    with ThreadPoolExecutor(available_cores()) as threads:
        waiting = [threads.submit(scan, position) for position in range(len(shards))]
        scanned = [problems.attempt(one.result) for one in waiting]
    problems.raise_if_any()
    return [one for one in scanned if one is not None]


def _input_shape(shard: Path) -> tuple[int, ...]:
    return next(read_samples(shard))[0].shape
