"""Files in the format of MNIST, as distributions install them: arrays with their shape in front."""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError

#: First two bytes are zero, the third says that numbers are bytes, the fourth how many axes there are.
_BYTES = b"\0\0\x08"

#: Name of each part in the names of files.
PARTS = {"train": "train", "test": "t10k"}


def read_pair(directory: Path, part: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Read images (N, H, W) and labels (N,) of the part "train" or "test"; raises `UserError` if a file is damaged."""
    files = [directory / f"{PARTS[part]}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
    images, labels = (_read(file, n_axes) for file, n_axes in zip(files, (3, 1), strict=True))
    if len(images) != len(labels):
        raise UserError("labels", file=files[1], expected=f"{len(images)}, one for each image", found=len(labels))
    return images, labels


def _read(file: Path, n_axes: int) -> NDArray[np.uint8]:
    try:
        content = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        found = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError("cannot be read", file=file, expected="a file compressed by gzip", found=found) from error
    start = 4 + 4 * n_axes
    shape = tuple(np.frombuffer(content[4:start], ">u4").tolist()) if len(content) >= start else ()
    if content[:4] != _BYTES + bytes([n_axes]) or len(content) != start + math.prod(shape):
        expected = f"bytes in an array of {n_axes} axes, in the format of MNIST"
        raise UserError("damaged", file=file, expected=expected, found=f"{len(content)} bytes of something else")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
