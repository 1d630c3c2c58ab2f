"""The data of an evaluation: images of a dataset, divided into seen and unseen classes."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.protocols.testbed.images import ImagePart, Images, data_key, read_images, without_training_images
from harness.protocols.testbed.settings import ProbeSettings
from harness.task.data import TrainingData

#: Default maximum of the numbers of unseen classes, as in the paper.
LEVELS = 6


@dataclass(frozen=True)
class Classes:
    """The classes of a testbed."""

    labels: tuple[int, ...]  #: seen classes, then unseen classes, each ascending, as the dataset labels them
    n_seen: int  #: number of seen classes
    levels: tuple[int, ...]  #: numbers of unseen classes, ascending from 0; classes are added in order

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of unseen classes at each level, in [0, 1)."""
        return tuple(level / (self.n_seen + level) for level in self.levels)


@dataclass(frozen=True)
class Prepared:
    """Images of the evaluated classes, labelled by the positions of the classes, and notes for the user."""

    images: Images
    classes: Classes
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Material:
    """A dataset of images, and the task whose models are evaluated on it."""

    data: str  #: name or path of the dataset
    input_shape: tuple[int, ...]  #: of the backbones
    known: TrainingData  #: the data on which the backbones were trained

    def key(self) -> dict[str, Any]:
        """Return the identity of the images, without reading them; raises `UserError` if there are no images."""
        return {"data": data_key(self.data), "input_shape": self.input_shape, "known": self.known.digest}

    def prepare(self, settings: ProbeSettings) -> Prepared:
        """Read and divide the images; raises `UserError` if that is not possible."""
        images = without_training_images(read_images(self.data, self.input_shape), self.known.inputs)
        seen = np.unique(self.known.labels).tolist()
        classes = _divide_classes(images, seen, settings.unseen, self.data)
        chosen = Images(_of_classes(images.train, classes), _of_classes(images.test, classes))
        return Prepared(chosen, classes, (*images.notes, *_notes(chosen, classes)))


def _divide_classes(images: Images, seen: Collection[int], levels: tuple[int, ...] | None, data: str) -> Classes:
    """Divide the classes of the images into seen and unseen ones.

    Raises:
        UserError: fewer than two seen classes, a class without training or test images, or a level that needs more
            classes than there are.
    """
    if len(seen) < 2:
        raise UserError("seen classes", file=data, expected="at least 2", found=len(seen))
    present = set(np.unique(images.train.labels).tolist()) | set(np.unique(images.test.labels).tolist())
    unseen = sorted(present - set(seen))
    chosen = equal_steps(len(unseen)) if levels is None else levels
    if chosen[-1] > len(unseen):
        raise UserError("unseen classes", file=data, expected=f"at least {chosen[-1]}", found=len(unseen))
    classes = Classes((*sorted(seen), *unseen[: chosen[-1]]), len(seen), chosen)
    for label in classes.labels:
        for name, part in (("training", images.train), ("test", images.test)):
            if not (part.labels == label).any():
                raise UserError(f"class {label}", file=data, expected=f"{name} images", found="none")
    return classes


def equal_steps(n_unseen: int) -> tuple[int, ...]:
    """Return at most six numbers from 0 to all unseen classes, in steps as equal as whole numbers allow."""
    steps = np.linspace(0, n_unseen, min(LEVELS, n_unseen + 1))
    return tuple(int(step) for step in np.unique(np.round(steps)))


def _of_classes(part: ImagePart, classes: Classes) -> ImagePart:
    """Return the images of these classes, labelled by their positions in `classes.labels`."""
    position = np.full(max(*classes.labels, int(part.labels.max())) + 1, -1, np.int32)
    position[list(classes.labels)] = np.arange(len(classes.labels))
    labels = position[part.labels]
    return ImagePart(part.inputs, labels).only(labels >= 0)


def _notes(images: Images, classes: Classes) -> list[str]:
    n_unseen = len(classes.labels) - classes.n_seen
    train, test = images.train.labels, images.test.labels
    counts = (
        f"{classes.n_seen} seen classes, {n_unseen} unseen ones; {len(train)} training images, {len(test)} test "
        f"images, at least {np.bincount(test).min()} of each class"
    )
    return [counts] if n_unseen else [counts, "there are no unseen classes, so only 0 % is evaluated"]
