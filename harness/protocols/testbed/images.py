"""Images of seen and unseen classes, brought into the shape of the backbones' input."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.corpus.datasets import not_in
from harness.corpus.sources import KERAS, TENSORFLOW_DATASETS
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.processes import NoAnswerError, Process
from harness.processes.runtimes import require_runtime
from harness.protocols.testbed.noise import WINDOW

#: The program that reads images.
PROGRAM = "harness.protocols.testbed.image_program"

#: Datasets that need no path.
NAMES = ("digits", *KERAS, *TENSORFLOW_DATASETS)

Inputs = NDArray[np.float32]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class ImagePart:
    """Training or test images: inputs (n, height, width, channels) in [0, 1], labels (n,) of the dataset."""

    inputs: Inputs
    labels: Labels

    def only(self, kept: NDArray[np.bool_]) -> "ImagePart":
        """Return the chosen images."""
        return ImagePart(self.inputs[kept], self.labels[kept])


@dataclass(frozen=True)
class Images:
    """Images of all classes, and notes on them for the user."""

    train: ImagePart
    test: ImagePart
    notes: tuple[str, ...] = ()


def data_key(data: str) -> list[Any]:
    """Return the identity of a dataset without reading it: its name, or its files with sizes and times.

    Raises:
        UserError: there is no such dataset.
    """
    settings, path = _source(data), Path(data)
    if "path" not in settings:
        return [data]
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    status = [(file, file.stat()) for file in files]
    return [str(path.resolve()), *([str(file.relative_to(path)), at.st_size, at.st_mtime_ns] for file, at in status)]


def read_images(data: str, input_shape: tuple[int, ...]) -> Images:
    """Read the images that DATA names, in a separate process.

    Args:
        data: `digits` or another dataset of recipes, an .npz file, or a directory of images.
        input_shape: (height, width, channels) of the backbones.

    Raises:
        UserError: the data cannot be read, or cannot have that shape.
    """
    runtime = require_runtime("tensorflow", "images are read by TensorFlow")
    height, width, channels = input_shape
    recipe = {"channels": channels, **_source(data), **({"resize": height} if height == width else {})}
    with tempfile.TemporaryDirectory() as directory:
        try:
            with Process(PROGRAM, runtime, gpu=False, own_data=True) as process:
                notes = process.ask({"recipe": recipe, "directory": directory})["notes"]
        except NoAnswerError as error:
            raise UserError(str(error).removeprefix(f"{Path(data).absolute()}: "), file=data) from error
        train, test = (
            ImagePart(*(np.load(Path(directory, f"{part}_{name}.npy")) for name in ("inputs", "labels")))
            for part in ("train", "test")
        )
    shape = train.inputs.shape[1:]
    if shape != input_shape:
        raise UserError("shape of the images", file=data, expected=f"{input_shape}, as the models have", found=shape)
    return Images(train, test, tuple(notes))


def require_large(shape: tuple[int, ...], where: Path | str) -> None:
    """Raise `UserError` for images that are smaller than the window of SSIM."""
    if min(shape[:2]) < WINDOW:
        expected = f"at least {WINDOW} pixels high and wide, the window of SSIM"
        remedy = "train backbones on larger images, e.g. with data.resize in the recipe"
        raise UserError("images", file=where, expected=expected, found=f"{shape[0]} x {shape[1]}", remedy=remedy)


def without_training_images(images: Images, known: Inputs) -> Images:
    """Leave out test images on which the backbones were trained, and note their number."""
    new = not_in(np.asarray(known), images.test.inputs)
    if new.all():
        return images
    note = f"{np.count_nonzero(~new)} test images on which the models were trained are left out"
    return Images(images.train, images.test.only(new), (*images.notes, note))


def _source(data: str) -> dict[str, object]:
    """Return the settings of a recipe for the source of images."""
    path = Path(data)
    if path.is_dir():
        return {"source": "directory", "path": str(path.absolute())}
    if path.is_file() and path.suffix == ".npz":
        return {"source": "npz", "path": str(path.absolute())}
    if data in NAMES and not path.exists():
        return {"source": data}
    found, remedy = "another kind" if path.exists() else "nothing", did_you_mean(data, NAMES)
    expected = f".npz, a directory of images, or one of {', '.join(NAMES)}"
    raise UserError("not data", file=data, expected=expected, found=found, remedy=remedy)
