"""The training and test images of a testbed, in the shape of the networks' input.

TensorFlow decodes and resizes images, so this module is also the program of a process that reads them. A question (a
request to the program) is `{"recipe": ..., "directory": DIRECTORY}`: the section [data] of a recipe
(`harness.corpus.recipe`), and the directory to write. The answer is `{"notes": [...]}`.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.corpus.datasets import load_data, not_in
from harness.corpus.recipe import DataRecipe
from harness.corpus.sources import KERAS, TENSORFLOW_DATASETS
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.processes import NoAnswerError, Process
from harness.processes.models import Answer, Question, plain
from harness.processes.runtimes import require_tensorflow

NAMES = ("digits", *KERAS, *TENSORFLOW_DATASETS)  #: names of datasets

Inputs = NDArray[np.float32]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class ImagePart:
    """Training or test images."""

    inputs: Inputs  #: shape (n, height, width, channels), in [0, 1]
    labels: Labels  #: shape (n,)

    def only(self, kept: NDArray[np.bool_]) -> "ImagePart":
        """Return the images for which the mask `kept` (n,) is true."""
        return ImagePart(self.inputs[kept], self.labels[kept])


@dataclass(frozen=True)
class Images:
    """The training and test images of a dataset."""

    train: ImagePart
    test: ImagePart
    notes: tuple[str, ...] = ()  #: messages for the user


def data_key(data: str) -> list[Any]:
    """Return the key of a dataset in the cache, as a list for JSON.

    The list has only the dataset's name or, for data in files, their paths, sizes and times of change.
    """
    settings, path = _source(data), Path(data)
    if "path" not in settings:
        return [data]
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    status = [(file, file.stat()) for file in files]
    return [str(path.resolve()), *([str(file.relative_to(path)), at.st_size, at.st_mtime_ns] for file, at in status)]


def answer(question: Question) -> Answer:
    """Write train_inputs.npy, train_labels.npy, test_inputs.npy and test_labels.npy into the question's directory."""
    data = load_data(DataRecipe(**question["recipe"]), Path())
    for name in ("train_inputs", "train_labels", "test_inputs", "test_labels"):
        np.save(Path(question["directory"], f"{name}.npy"), getattr(data, name))
    return {"notes": list(data.notes)}


prepare = plain(answer)


def read_images(data: str, input_shape: tuple[int, ...]) -> Images:
    """Read the images of a dataset in the shape (height, width, channels) of the networks' input.

    `data` is a name in `NAMES`, an .npz file, or a directory of images. Raise `UserError` if it cannot be used.
    """
    runtime = require_tensorflow("images are read by TensorFlow")
    height, width, channels = input_shape
    recipe = {"channels": channels, **_source(data), **({"resize": height} if height == width else {})}
    with tempfile.TemporaryDirectory() as directory:
        try:
            with Process(__name__, runtime, gpu=False, own_data=True) as process:
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


def without_training_images(images: Images, known: Inputs) -> Images:
    """Leave out test images on which the networks were trained (`known`), and note how many they are."""
    new = not_in(np.asarray(known), images.test.inputs)
    if new.all():
        return images
    note = f"{np.count_nonzero(~new)} test images on which the models were trained are left out"
    return Images(images.train, images.test.only(new), (*images.notes, note))


def _source(data: str) -> dict[str, object]:
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
