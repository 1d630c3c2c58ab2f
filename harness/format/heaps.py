"""Looks through the global heaps of an HDF5 file, in which texts of any length are, before the library does.

A heap is `GCOL`, a version, and its size, then its objects: number, references and size of each, and their bytes. The
library reads them for ever if free space (number 0) has no size, or if a size is so large that the next object seems to
be an earlier one.
"""

import errno
import io
import os
import struct
from collections.abc import Iterator
from typing import IO

_MARK = b"GCOL\x01"

#: Bytes before the objects of a heap, and before the bytes of an object.
_HEADER = 16

#: Bytes read at once, and most objects of all heaps of a file: Keras writes a few for each layer.
_BLOCK, MAX_OBJECTS = 1024**2, 1_000_000


def require_readable(content: IO[bytes]) -> None:
    """Raise `ValueError` unless every heap in a file has an end; other bytes that look like a heap are seldom one."""
    size = content.seek(0, io.SEEK_END)
    left = MAX_OBJECTS
    for start in _places(content, size):
        left -= _objects(content, start, size, left)


def _places(content: IO[bytes], size: int) -> Iterator[int]:
    """Yield where heaps begin."""
    position = _next_data(content, 0, size)
    while position < size:
        content.seek(position)
        block = content.read(_BLOCK + len(_MARK) - 1)
        found = block.find(_MARK)
        while found >= 0:
            yield position + found
            found = block.find(_MARK, found + 1)
        position = _next_data(content, position + _BLOCK, size)


def _next_data(content: IO[bytes], position: int, size: int) -> int:
    """Return the position of the next bytes that are stored: a file of 200 GB may have none but a few."""
    try:
        return os.lseek(content.fileno(), position, os.SEEK_DATA)
    except (OSError, AttributeError) as error:  # the latter, on Windows; bytes in memory are no file
        return size if getattr(error, "errno", None) == errno.ENXIO else position


def _objects(content: IO[bytes], start: int, size: int, most: int) -> int:
    """Return the number of objects of a heap, which fill it; of one that does not fit into the file, none.

    The library refuses such a heap.
    """
    end = start + _number(content, start + 8)
    place, n = start + _HEADER, 0
    while place + _HEADER <= end <= size:
        content.seek(place)
        number, length = struct.unpack("<H6xQ", content.read(_HEADER))
        used = length if number == 0 else _HEADER + length + -length % 8
        n += 1
        if used == 0 or used > end - place or n > most:
            raise ValueError("a heap without end")
        place += used
    return n


def _number(content: IO[bytes], place: int) -> int:
    content.seek(place)
    return int.from_bytes(content.read(8), "little")
