"""The data of an evaluation: images of a dataset, divided into seen and unseen classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.protocols.testbed.classes import Classes, divide_classes, of_classes
from harness.protocols.testbed.images import Images, data_key, read_images, without_training_images
from harness.protocols.testbed.settings import ProbeSettings
from harness.task.data import TrainingData


@dataclass(frozen=True)
class Prepared:
    """Images of the evaluated classes, labelled by their positions among these, and notes for the user."""

    images: Images
    classes: Classes
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Material:
    """A dataset, and the task that it is brought together with."""

    data: str  #: name or path of the dataset
    input_shape: tuple[int, ...]  #: of the backbones
    known: TrainingData  #: the data on which the backbones were trained

    def key(self) -> dict[str, Any]:
        """Return what identifies the images, without reading them; raises `UserError` if there are none."""
        return {"data": data_key(self.data), "input_shape": self.input_shape, "known": self.known.digest}

    def prepare(self, settings: ProbeSettings) -> Prepared:
        """Read and divide the images; raises `UserError` if that is not possible."""
        images = without_training_images(read_images(self.data, self.input_shape), self.known.inputs)
        seen = np.unique(self.known.labels).tolist()
        classes = divide_classes(images, seen, settings.unseen, self.data)
        chosen = Images(of_classes(images.train, classes), of_classes(images.test, classes))
        return Prepared(chosen, classes, (*images.notes, *_notes(chosen, classes)))


def _notes(images: Images, classes: Classes) -> list[str]:
    n_unseen = len(classes.labels) - classes.n_seen
    train, test = images.train.labels, images.test.labels
    counts = (
        f"{classes.n_seen} seen classes, {n_unseen} unseen ones; {len(train)} training images, {len(test)} test "
        f"images, at least {np.bincount(test).min()} of each class"
    )
    none = ["there are no unseen classes, so only 0 % is evaluated"] if not n_unseen else []
    return [counts, *none]
