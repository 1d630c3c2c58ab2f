"""Tests of files that declare enormous sizes: the harness reads no more than a bound. The files are sparse."""

import io
import json
import os
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from little_memory import little_memory

from harness.errors import UserError
from harness.format import arrays
from harness.format.archive import open_archive
from harness.format.arrays import open_npz, read_npy
from harness.format.saved_models import read_whole_model_config
from harness.machine_memory import Memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="others do not bound memory")

GB = 10**9


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    with little_memory():
        yield


def test_an_archive_that_declares_a_large_directory(tmp_path: Path) -> None:
    file = tmp_path / "model.keras"
    file.touch()
    os.truncate(file, 4 * GB)
    with file.open("ab") as stream:
        stream.write(struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 9, 9, 4 * GB - 1000, 0, 0))
    with pytest.raises(UserError, match="damaged: expected a whole zip archive"), open_archive(file):
        pass


@pytest.mark.parametrize(("method", "flags"), [(zipfile.ZIP_STORED, 1), (zipfile.ZIP_LZMA, 0), (97, 0)])
def test_members_that_are_encrypted_or_packed_by_another_method(tmp_path: Path, method: int, flags: int) -> None:
    np.savez(tmp_path / "data.npz", x=np.zeros(3))
    content = bytearray((tmp_path / "data.npz").read_bytes())
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 8] |= flags
    struct.pack_into("<H", content, entry + 10, method)
    (tmp_path / "data.npz").write_bytes(content)
    said = r"data\.npz: member x\.npy: expected a stored or deflated file, found encryption or another method$"
    with pytest.raises(UserError, match=said), open_npz(tmp_path / "data.npz"):
        pass


def test_an_array_that_is_larger_than_the_free_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "data.npz", x=np.zeros(1000))
    monkeypatch.setattr(arrays, "usable_memory", lambda: Memory(8000, 7999))
    with (
        open_npz(tmp_path / "data.npz") as stored,
        pytest.raises(UserError, match=r"^x: expected at most 7999 bytes, the free memory, found 8000 bytes$"),
    ):
        stored["x"].read()


def test_an_array_that_cannot_be_mapped(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (100 * GB,)})
    (tmp_path / "x.npy").write_bytes(header.getvalue())
    os.truncate(tmp_path / "x.npy", 101 * GB)
    with pytest.raises(UserError, match=r"x\.npy: damaged: expected a whole \.npy file, found .*memory"):
        read_npy(tmp_path / "x.npy")


def test_an_array_that_declares_a_long_header(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\2\0" + struct.pack("<I", 2**32 - 1))
    os.truncate(tmp_path / "x.npy", 5 * GB)
    with pytest.raises(UserError, match=r"x\.npy: version of the \.npy format: expected 1\.0, found 2\.0"):
        read_npy(tmp_path / "x.npy")


def test_of_a_whole_model_only_the_architecture_is_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential"})
    os.truncate(tmp_path / "model.h5", 200 * GB)
    assert read_whole_model_config(tmp_path / "model.h5") == {"class_name": "Sequential"}
