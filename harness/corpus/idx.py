"""Files in the format of MNIST, as distributions install them: arrays with their shape in front."""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.reading import open_regular

#: Most bytes of an array; the images of Fashion-MNIST have 47 MB.
MAX_BYTES = 1024**3

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
        with open_regular(file, links=True) as stream, gzip.open(stream) as unpacked:
            start, declared = unpacked.read(4), unpacked.read(4 * n_axes)
            shape = tuple(np.frombuffer(declared, ">u4").tolist()) if len(declared) == 4 * n_axes else ()
            content = unpacked.read(min(math.prod(shape), MAX_BYTES) + 1)
    except (OSError, EOFError, zlib.error) as error:
        found = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError("cannot be read", file=file, expected="a file compressed by gzip", found=found) from error
    if start != _BYTES + bytes([n_axes]) or not shape or len(content) != math.prod(shape):
        expected = f"bytes in an array of {n_axes} axes, in the format of MNIST"
        raise UserError("damaged", file=file, expected=expected, found=f"{len(content)} bytes of something else")
    return np.frombuffer(content, np.uint8).reshape(shape)
