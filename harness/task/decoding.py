"""Decodes shards into two arrays, each shard read once, several at a time."""

import math
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib.format import write_array_header_1_0

from harness.cores import available_cores
from harness.format.problems import Problems
from harness.format.scan import Inputs, Scanned, Sink, scan_shard
from harness.format.shards import expected_samples, read_samples
from harness.task.digests import Digests, data_digest

#: Files with the inputs, float32 (n_samples, *input_shape), and the labels, int32 (n_samples,).
INPUTS, LABELS = "inputs.npy", "labels.npy"


def decode(shards: Sequence[Path], directory: Path, digests: Digests) -> str:
    """Check shards and write their samples to inputs.npy and labels.npy; returns their digest, raises `UserError`."""
    problems = Problems()
    counts = [problems.attempt(expected_samples, shard) or 0 for shard in shards]
    shapes = (problems.attempt(_input_shape, shard) for shard, count in zip(shards, counts, strict=True) if count)
    shape = next((shape for shape in shapes if shape is not None), ())
    readable = [shard for shard, count in zip(shards, counts, strict=True) if count]
    with (directory / INPUTS).open("wb") as stream:
        scanned = _write_inputs(stream, readable, shape, [count for count in counts if count], digests, problems)
        found = [len(one.labels) for one in scanned]
        if found != counts:  # records of several lengths, which by chance looked like records of one
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
    """Write an array file of the inputs of shards with so many samples each."""
    write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (sum(counts), *shape)})
    stream.flush()
    size, begin = 4 * math.prod(shape), stream.tell()
    first = [sum(counts[:position]) for position in range(len(counts))]

    def sink_of(position: int) -> Sink:
        start = begin + size * first[position]
        return lambda number, inputs: _write_at(stream.fileno(), inputs, start + size * number)

    return scan_shards(shards, shape, digests, problems, sink_of)


def _write_at(descriptor: int, inputs: Inputs, place: int) -> None:
    content = memoryview(inputs.reshape(-1).view(np.uint8).data)
    while len(content):
        written = _pwrite(descriptor, content, place)
        content, place = content[written:], place + written


if sys.platform != "win32":
    _pwrite = os.pwrite

else:
    _moving = threading.Lock()

    def _pwrite(descriptor: int, content: memoryview, place: int) -> int:
        with _moving:
            os.lseek(descriptor, place, os.SEEK_SET)
            return os.write(descriptor, content)


def scan_shards(
    shards: Sequence[Path],
    shape: tuple[int, ...],
    digests: Digests,
    problems: Problems,
    sink_of: Callable[[int], Sink] = lambda _position: lambda _number, _inputs: None,
) -> list[Scanned]:
    """Read every shard once, several at a time; raises `InvalidTaskError` with the first problem of each."""

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
