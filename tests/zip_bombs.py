"""Zip archives that unpack to far more bytes than their own size."""

import copy
import zipfile
from collections.abc import Mapping
from pathlib import Path


def overlapping(file: Path, number: int, size: int = 60 * 1024**2, others: Mapping[str, bytes] | None = None) -> Path:
    """Write an archive with members 0.npy, 1.npy, ... of `size` zeros each, which share a few compressed bytes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (others or {}).items():
            archive.writestr(name, content)
        archive.writestr("0.npy", bytes(size))
        for position in range(1, number):
            again = copy.copy(archive.getinfo("0.npy"))
            again.filename = f"{position}.npy"
            archive.filelist.append(again)
    return file
