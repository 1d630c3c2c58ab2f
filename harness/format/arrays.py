"""Reads arrays from `.npy` and `.npz` files of unknown origin; pickled Python objects are never loaded."""

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
from harness.format.files import located
from harness.text import printable

_READ_HEADER: dict[tuple[int, int], Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@dataclass(frozen=True)
class StoredArray:
    """One array of an open `.npz` file; its numbers are read on request."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    _archive: ZipFile

    def read(self) -> NDArray[Any]:
        """Return the numbers."""
        with open_member(self._archive, f"{self.name}.npy") as (stream, _):
            _read_header(stream)
            content = stream.read(math.prod(self.shape) * self.dtype.itemsize)
        return np.frombuffer(content, self.dtype).reshape(self.shape, order="F" if self.is_fortran else "C")


@contextmanager
def open_npz(path: Path) -> Iterator[Mapping[str, StoredArray]]:
    """Open an `.npz` file; yields its arrays by name.

    Raises:
        UserError: it is damaged, or holds anything other than whole arrays of numbers.
    """
    with open_archive(path) as archive:
        arrays = {}
        for member in names(archive):
            name = member.removesuffix(".npy")
            if name == member:
                raise UserError(f"member {printable(member)}", expected="arrays written by numpy.savez", found=member)
            with open_member(archive, member) as (stream, size):
                shape, is_fortran, dtype = _read_header(stream)
                require_numbers(name, dtype)
                expected = stream.tell() + math.prod(shape) * dtype.itemsize
            if size != expected:
                raise UserError(name, expected=f"{expected} bytes for shape {shape}", found=size)
            arrays[name] = StoredArray(name, shape, dtype, is_fortran, archive)
        yield arrays


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array in an `.npy` file, memory-mapped; raises `UserError` as `open_npz` does."""
    try:
        with located(path), path.open("rb") as stream:
            _, _, dtype = _read_header(stream)
            require_numbers("array", dtype)
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError) as error:
        found = printable(str(error))[:200]
        raise UserError("damaged", file=path, expected="a whole .npy file", found=found) from error


def require_numbers(name: str, dtype: np.dtype[Any]) -> None:
    """Raise `UserError` unless a type is one of integers, truth values or floating-point numbers."""
    if dtype.hasobject:
        found = "pickled Python objects"
    elif dtype.kind not in "biuf":
        found = str(dtype)
    else:
        return
    raise UserError(printable(name), expected="numbers", found=found)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(stream)
    if version not in _READ_HEADER:
        raise UserError("version of the .npy format", expected="1.0 or 2.0", found=".".join(map(str, version)))
    shape, is_fortran, dtype = _READ_HEADER[version](stream)
    return shape, is_fortran, dtype
