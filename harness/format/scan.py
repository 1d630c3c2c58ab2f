"""Reads a file of training examples (a shard) in one pass: digests the file, checks every example, decodes the arrays.

Most records of a shard differ only in the numbers of their inputs. If the bytes around these numbers equal those of an
earlier record, the record is not parsed: its numbers have the same position, and are copied from there.
"""

import hashlib
import math
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.shards import decode_sample, mapped, payloads, require_checksum

#: Number of bytes of inputs that are checked, and given to the sink, at once.
BLOCK_BYTES = 2**21

#: Maximum number of remembered byte sequences around inputs.
MOST = 4096

Inputs = NDArray[np.float32]

#: Function that receives the inputs (n, ...) of n examples, and the number of the first; it must copy the array.
Sink = Callable[[int, Inputs], None]


class Scanned(NamedTuple):
    """The labels (n,) of a shard's examples, and the digest of the file."""

    labels: NDArray[np.int32]
    digest: str  #: SHA-256 of the file


def scan_shard(shard: Path, shape: tuple[int, ...], sink: Sink = lambda _number, _inputs: None) -> Scanned:
    """Check all examples of a shard, pass their inputs to `sink` in order, and return the labels and the file's digest.

    Raises `UserError` if a record is damaged, or if inputs are not finite or have another `shape`.
    """
    with mapped(shard) as data:
        scan = _Scan(data, shard, shape, sink)
        for start, length in payloads(data, shard):
            scan.add(start, start + length)
        return scan.result()


class _Scan:
    """A pass over a shard. Collects examples in a block; a full block is checked and passed to the sink."""

    def __init__(self, data: mmap.mmap, shard: Path, shape: tuple[int, ...], sink: Sink) -> None:
        self._data, self._shard, self._sink = data, shard, sink
        self._parsed, self._labels = _Parsed(shape), list[int]()
        self._block = np.empty((max(BLOCK_BYTES // max(4 * math.prod(shape), 1), 1), *shape), "<f4")
        self._bytes, self._size = self._block.reshape(-1).view(np.uint8), self._block[0].nbytes
        self._digest, self._n_digested, self._n_waiting = hashlib.sha256(), 0, 0

    def add(self, start: int, end: int) -> None:
        payload, waiting = self._data[start:end], self._n_waiting
        try:
            require_checksum(payload, self._data[end : end + 4])
            place, label = self._parsed.place_of(payload, self._block[waiting : waiting + 1])
        except UserError as error:
            self._require_finite()  # problems are reported in the order of the records
            raise UserError(f"record {len(self._labels)}: {error}", file=self._shard) from error
        if place is not None:
            target = slice(waiting * self._size, (waiting + 1) * self._size)
            self._bytes[target] = np.frombuffer(payload, np.uint8, self._size, place)
        self._labels.append(label)
        self._n_waiting += 1
        if self._n_waiting == len(self._block):
            self._give(end + 4)

    def result(self) -> Scanned:
        self._give(len(self._data))
        return Scanned(np.array(self._labels, np.int32), self._digest.hexdigest())

    def _give(self, end: int) -> None:
        """Check the collected examples, pass them to the sink, and digest their bytes while the CPU caches them."""
        self._require_finite()
        self._sink(len(self._labels) - self._n_waiting, self._block[: self._n_waiting])
        with memoryview(self._data) as view, view[self._n_digested : end] as part:
            self._digest.update(part)
        self._n_digested, self._n_waiting = end, 0

    def _require_finite(self) -> None:
        inputs = self._block[: self._n_waiting]
        if np.isfinite(inputs).all():
            return
        first = next(i for i, one in enumerate(inputs) if not np.isfinite(one).all())
        message = f"record {len(self._labels) - self._n_waiting + first}: inputs"
        raise UserError(message, file=self._shard, expected="finite numbers", found="NaN or infinity")


class _Parsed:
    """Remembers, for each parsed record, the bytes around the inputs' numbers, the numbers' position, and the label."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape, self._size = shape, 4 * math.prod(shape)
        self._places: dict[int, list[int]] = {}  #: length of a record's payload -> positions
        self._labels: dict[tuple[int, bytes, bytes], int] = {}
        self._probe = hashlib.shake_256(b"other numbers").digest(self._size)

    def place_of(self, payload: bytes, target: Inputs) -> tuple[int | None, int]:
        """Return (position of the inputs' numbers in a record's payload, label of the record).

        If no earlier record had the same bytes around its numbers, write the numbers to `target`, and return None as
        position. Raises `UserError` if the payload is no example, or if its input has another shape.
        """
        for place in self._places.get(len(payload), ()):
            label = self._labels.get(self._around(payload, place))
            if label is not None:
                return place, label
        sample = decode_sample(payload)
        if sample[0].shape != self._shape:
            raise UserError("inputs", expected=f"shape {self._shape} as of others", found=sample[0].shape)
        target[...] = sample[0]
        self._learn(payload, sample[0].tobytes(), sample[1])
        return None, sample[1]

    def _learn(self, payload: bytes, numbers: bytes, label: int) -> None:
        """Remember the bytes around `numbers`, if the parser still accepts the record after a change of `numbers`."""
        place = payload.find(numbers)
        if place < 0 or payload.find(numbers, place + 1) >= 0 or len(self._labels) >= MOST:
            return
        other = _decoded(payload[:place] + self._probe + payload[place + self._size :])
        if other is not None and other[0].tobytes() == self._probe and other[1] == label:
            self._labels[self._around(payload, place)] = label
            places = self._places.setdefault(len(payload), [])
            if place not in places:
                places.append(place)

    def _around(self, payload: bytes, place: int) -> tuple[int, bytes, bytes]:
        return place, payload[:place], payload[place + self._size :]


def _decoded(payload: bytes) -> tuple[Inputs, int] | None:
    try:
        return decode_sample(payload)
    except UserError:
        return None
