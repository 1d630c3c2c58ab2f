"""Reads images from a directory per class, `CLASS/NAME.png`. Classes are numbered in the order of their names."""

import io
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from harness.errors import UserError
from harness.format.files import START, other_kind, visible_directories
from harness.inspector.files import is_leftover
from harness.reading import read_regular
from harness.text import printable

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
_FORMATS = ("PNG", "JPEG", "BMP")

#: Maximum size of an image file in bytes.
MAX_BYTES = 64 * 1024**2

#: Number of channels of a model's input -> Pillow's mode of such images.
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def find_images(directory: Path) -> list[tuple[Path, int]]:
    """Return (path, label) of each image, by label, then path; raises `UserError` for an empty class, or no class."""
    found = []
    classes = visible_directories(directory)
    for label, folder in enumerate(sorted(classes, key=lambda path: path.name)):
        images = images_in(folder)
        if not images:
            raise UserError("no images", file=folder, expected=f"files {', '.join(SUFFIXES)}", found="none")
        found += [(image, label) for image in images]
    if not found:
        expected = "shards *.tfrecord, or a directory of images per class"
        raise UserError("no data", file=directory, expected=expected, found="neither")
    return found


def images_in(folder: Path) -> list[Path]:
    """Return the images in a folder, sorted by name, without files that systems add, such as `._cat.png` on macOS."""
    return sorted(path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES and not is_leftover(path.name))


def read_images(images: list[tuple[Path, int]], shape: tuple[int, ...]) -> Iterator[NDArray[np.uint8]]:
    """Yield the images as arrays of `shape` (height, width, channels) with values 0 to 255.

    Images with another number of channels are converted. Raises `UserError` if a file is damaged, is no PNG, JPEG or
    BMP, or has another height or width.
    """
    mode = _MODES.get(shape[2]) if len(shape) == 3 else None
    if mode is None:
        raise UserError("images", expected=f"inputs of shape {shape}, as the models have", found="images")
    for path, _ in images:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                content = io.BytesIO(read_regular(path, MAX_BYTES, links=True))
                with Image.open(content, formats=_FORMATS) as image:
                    if (image.height, image.width) != shape[:2]:
                        found = f"{image.height} x {image.width}"
                        raise UserError("size of an image", file=path, expected=f"{shape[0]} x {shape[1]}", found=found)
                    yield np.asarray(_of_8_bits(image).convert(mode), np.uint8).reshape(shape)
        except (OSError, SyntaxError, ValueError, Warning, Image.DecompressionBombError) as error:
            expected = " or ".join(_FORMATS)
            if isinstance(error, UnidentifiedImageError):
                raise other_kind("not an image", content.getvalue()[:START], file=path, expected=expected) from error
            found = printable(str(error))[:200]
            raise UserError("not an image", file=path, expected=expected, found=found) from error


def _of_8_bits(image: Image.Image) -> Image.Image:
    """Return the high bytes of a 16-bit image, as TensorFlow does; Pillow would make all values above 255 white."""
    return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)) if image.mode.startswith("I") else image
