"""Reads untrusted HDF5 files safely, and writes HDF5 files without timestamps.

HDF5 can store data in other files, follow links, or unpack data with code that it loads, and a few bytes can declare
any number of elements. Keras uses no such features, and the harness refuses them.

HDF5 stores texts of variable length in global heaps. A heap has the mark `GCOL`, a version, its size, and objects, each
with number, count of references, size and bytes. The HDF5 library would read forever if free space (object number 0)
had the size 0, or if a size were so huge that the next position overflows. So the harness checks all heaps first.
"""

import errno
import io
import math
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import h5py
import numpy as np

from harness.errors import UserError

SIGNATURE = b"\x89HDF\r\n\x1a\n"

#: Maximum number of names in one list; the largest networks have a few thousand layers.
MAX_NAMES = 10_000

_UNPACK = "h5repack -l CONTI -f NONE rewrites it"

#: First bytes of a heap; size in bytes of the header of a heap and of each of its objects.
_MARK, _HEADER = b"GCOL\x01", 16

#: Number of bytes per read; maximum number of objects in all heaps of a file, of which Keras writes a few per layer.
_BLOCK, MAX_OBJECTS = 1024**2, 1_000_000


@contextmanager
def open_hdf5(content: IO[bytes], path: Path) -> Iterator[Any]:
    """Open an HDF5 file. Raises `UserError`, which names `path`, for damage found before the context ends."""
    try:
        require_readable(content)
        with h5py.File(content, "r") as file:
            if file.id.get_create_plist().get_sizes() != (8, 8):  # with other sizes, heaps have another form
                raise OSError("positions or lengths of another size than 64 bits")
            yield file
    except UserError:
        raise
    except Exception as error:  # HDF5 notices truncated files when it opens them, other damage at any time
        found = f"{content.seek(0, io.SEEK_END)} bytes: {' '.join(str(error).split())[:200]}"
        raise UserError(
            "damaged", file=path, expected="a whole HDF5 file", found=found, remedy="copy it again"
        ) from error


def member(group: Any, name: str, path: Path) -> Any:
    """Return the object `name` in `group`; None if it does not exist. Raises `UserError` if it is a link."""
    for part in name.split("/"):
        link = group.get(part, getlink=True) if part and isinstance(group, h5py.Group) else None
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):
            target = f"{link.filename} {link.path}" if isinstance(link, h5py.ExternalLink) else link.path
            raise UserError(name, file=path, expected="an object of the file", found=f"a link to {target}")
        group = group[part]
    return group


def has_member(group: Any, name: str) -> bool:
    """Whether `group` has a member or link of that name."""
    return group.get(name, getlink=True) is not None


def names(group: Any, attribute: str, size: int) -> list[str]:
    """Return the texts in an attribute of a group; raises `UserError` if the attribute exceeds `size` bytes."""
    stored = group.attrs.get_id(attribute)
    count = 0 if stored.shape is None else math.prod(stored.shape)
    if count > MAX_NAMES or count * stored.dtype.itemsize > size:
        raise UserError(attribute, expected=f"at most {MAX_NAMES} names", found=f"shape {stored.shape}")
    if not count:
        return []
    if h5py.check_string_dtype(stored.dtype) is None:
        raise UserError(attribute, expected="names", found=stored.dtype)
    found = np.ravel(group.attrs[attribute])
    return [name.decode(errors="replace") if isinstance(name, bytes) else str(name) for name in found]


def require_plain_array(stored: Any, where: str, path: Path) -> None:
    """Raise `UserError` unless `stored` is an array of floating-point numbers that the file stores in one piece."""
    if not isinstance(stored, h5py.Dataset):
        raise UserError(where, file=path, expected="an array", found="a group or type")
    if not np.issubdtype(stored.dtype, np.floating):
        raise UserError(where, file=path, expected="floating-point numbers", found=stored.dtype)
    if stored.external:
        found = f"numbers in {', '.join(name for name, _, _ in stored.external)}"
        raise UserError(where, file=path, expected="numbers in the file itself", found=found)
    if stored.is_virtual:
        found = "a view of other arrays"
        raise UserError(where, file=path, expected="numbers in the file itself", found=found, remedy=_UNPACK)
    if stored.chunks is not None:
        filters = stored.id.get_create_plist().get_nfilters()
        found = f"chunks through {filters} filters" if filters else "chunks"
        raise UserError(where, file=path, expected="numbers in one piece", found=found, remedy=_UNPACK)


def timeless_file(image: io.BytesIO) -> h5py.File:
    """Return a new HDF5 file without timestamps. Its bytes are written to `image`."""
    creation, access = h5py.h5p.create(h5py.h5p.FILE_CREATE), h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    creation.set_obj_track_times(False)
    access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)  # half the overhead of the oldest format
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, image)
    return h5py.File(h5py.h5f.create(b"weights", h5py.h5f.ACC_TRUNC, creation, access))


def timeless_group(parent: h5py.Group, name: str) -> h5py.Group:
    """Return a new group `name` in `parent`, without timestamps."""
    creation = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    creation.set_obj_track_times(False)
    return h5py.Group(h5py.h5g.create(parent.id, name.encode(), gcpl=creation))


def require_readable(content: IO[bytes]) -> None:
    """Raise `ValueError` if bytes that look like a heap might keep the HDF5 library reading forever."""
    size = content.seek(0, io.SEEK_END)
    left = MAX_OBJECTS
    for start in _places(content, size):
        left -= _objects(content, start, size, left)


def _places(content: IO[bytes], size: int) -> Iterator[int]:
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
    """Return the position of the next stored byte, past the empty parts of a sparse file."""
    try:
        return os.lseek(content.fileno(), position, os.SEEK_DATA)
    except (OSError, AttributeError) as error:  # AttributeError: an old macOS; OSError: bytes in memory
        return size if getattr(error, "errno", None) == errno.ENXIO else position


def _objects(content: IO[bytes], start: int, size: int, most: int) -> int:
    """Return the number of objects in a heap, 0 if the heap exceeds the file; raises `ValueError` for endless heaps."""
    content.seek(start + 8)
    end = start + int.from_bytes(content.read(8), "little")
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
