"""Reads arrays from untrusted `.npy` and `.npz` files, and never loads pickled Python objects."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from harness.errors import UserError
from harness.format.archive import names, open_archive, open_member
from harness.format.files import START, located, other_kind
from harness.machine_memory import usable_memory
from harness.reading import open_regular
from harness.text import printable


@dataclass(frozen=True)
class StoredArray:
    """The name, shape and type of an array in an open `.npz` file; `read` reads the numbers."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    _archive: ZipFile

    def read(self) -> NDArray[Any]:
        """Return the array; raises `UserError` if its elements are not numbers, or if it does not fit into memory."""
        require_numbers(self.name, self.dtype)
        require_memory(self.name, math.prod(self.shape) * self.dtype.itemsize)
        with open_member(self._archive, f"{self.name}.npy") as (stream, _):
            _read_header(stream)
            content = stream.read(math.prod(self.shape) * self.dtype.itemsize)
        return np.frombuffer(content, self.dtype).reshape(self.shape, order="F" if self.is_fortran else "C")


@contextmanager
def open_npz(path: Path) -> Iterator[Mapping[str, StoredArray]]:
    """Open an `.npz` file, and yield name -> array; raises `UserError` unless every member is an intact array."""
    with open_archive(path) as archive:
        arrays = {}
        for member in names(archive):
            name = member.removesuffix(".npy")
            if name == member:
                raise UserError(f"member {printable(member)}", expected="arrays written by numpy.savez", found=member)
            with open_member(archive, member) as (stream, size):
                shape, is_fortran, dtype = _read_header(stream)
                if dtype.hasobject:  # pickled objects, whose size the header does not tell
                    require_numbers(name, dtype)
                expected = stream.tell() + math.prod(shape) * dtype.itemsize
            if size != expected:
                raise UserError(name, expected=f"{expected} bytes for shape {shape}", found=size)
            arrays[name] = StoredArray(name, shape, dtype, is_fortran, archive)
        yield arrays


def read_npy(path: Path) -> NDArray[Any]:
    """Return the memory-mapped array in an `.npy` file; raises `UserError` unless it is an intact array of numbers."""
    try:
        with open_regular(path, links=True) as stream, located(path):
            shape, is_fortran, dtype = _read_header(stream)
            require_numbers("array", dtype)
            return np.asarray(np.memmap(stream, dtype, "r", stream.tell(), shape, "F" if is_fortran else "C"))
    except (ValueError, EOFError, OverflowError, OSError) as error:  # OSError: larger than the address space
        found = printable(str(error))[:200]
        raise UserError("damaged", file=path, expected="a whole .npy file", found=found) from error


def require_memory(name: str, size: int) -> None:
    """Raise `UserError` if `size` bytes do not fit into memory; `name` is the name of the array."""
    free = usable_memory().available
    if size > free:
        raise UserError(printable(name), expected=f"at most {free} bytes, the free memory", found=f"{size} bytes")


def require_numbers(name: str, dtype: np.dtype[Any]) -> None:
    """Raise `UserError` unless `dtype` is a type of integers, truth values or floating-point numbers."""
    if dtype.hasobject:
        found = "pickled Python objects"
    elif dtype.kind not in "biuf":
        found = str(dtype)
    else:
        return
    raise UserError(printable(name), expected="numbers", found=found)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return (shape, whether in Fortran order, type). Raise `UserError` for another format, `ValueError` for damage."""
    start = stream.read(START)
    stream.seek(0)
    if not start.startswith(npy.MAGIC_PREFIX):
        raise other_kind("no array", start, file=None, expected="a file written by numpy.save")
    version = npy.read_magic(stream)
    if version != (1, 0):  # later versions may declare a header of any length
        raise UserError("version of the .npy format", expected="1.0", found=".".join(map(str, version)))
    try:
        shape, is_fortran, dtype = npy.read_array_header_1_0(stream)
    except Exception as error:  # NumPy reads the header as Python, whose parser raises any error
        raise ValueError(f"header: {error}") from error
    return shape, is_fortran, dtype
