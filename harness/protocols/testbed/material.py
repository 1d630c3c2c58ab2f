"""The images of a testbed, divided into seen classes, on which the networks were trained, and unseen classes."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from harness.errors import UserError
from harness.protocols.testbed.images import ImagePart, Images, read_images, without_training_images
from harness.task.data import TrainingData

LEVELS = 6  #: maximum number of levels by default, as in Huang, Yu and Zhang 2025


@dataclass(frozen=True)
class Classes:
    """The classes of images that a testbed uses: classes in the task (seen), and other classes of the data (unseen)."""

    labels: tuple[int, ...]  #: labels of the seen classes, then of the unseen classes, both ascending
    n_seen: int  #: number of seen classes
    levels: tuple[int, ...]  #: numbers of unseen classes to evaluate, ascending from 0

    @property
    def shares(self) -> tuple[float, ...]:
        """Fraction of unseen classes for each number in `levels`, in [0, 1)."""
        return tuple(level / (self.n_seen + level) for level in self.levels)


def divide_images(
    data: str, input_shape: tuple[int, ...], known: TrainingData, levels: tuple[int, ...] | None
) -> tuple[Images, Classes]:
    """Read the images of the dataset `data`, and divide them into seen and unseen classes.

    The seen classes are the classes in `known`, the training data of the networks. `levels` are the numbers of unseen
    classes to evaluate, ascending from 0; None means at most six numbers in equal steps. The labels of the
    returned images are positions in `Classes.labels`. Raise `UserError` if the images cannot be read, or if there are
    too few classes, or too few images of a class.
    """
    images = without_training_images(read_images(data, input_shape), known.inputs)
    classes = _divide_classes(images, np.unique(known.labels).tolist(), levels, data)
    train, test = _of_classes(images.train, classes), _of_classes(images.test, classes)
    n_unseen = len(classes.labels) - classes.n_seen
    notes = [
        *images.notes,
        f"{classes.n_seen} seen and {n_unseen} unseen classes evaluated; {len(train.labels)} training images, "
        f"{len(test.labels)} test images, at least {np.bincount(test.labels).min()} of each class",
        *([] if n_unseen or levels else ["there are no unseen classes, so only 0 % is evaluated"]),
    ]
    return Images(train, test, tuple(notes)), classes


def _divide_classes(images: Images, seen: Collection[int], levels: tuple[int, ...] | None, data: str) -> Classes:
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
    """Return at most `LEVELS` whole numbers from 0 to `n_unseen`, in nearly equal steps."""
    steps = np.linspace(0, n_unseen, min(LEVELS, n_unseen + 1))
    return tuple(int(step) for step in np.unique(np.round(steps)))


def _of_classes(part: ImagePart, classes: Classes) -> ImagePart:
    position = np.full(max(*classes.labels, int(part.labels.max())) + 1, -1, np.int32)
    position[list(classes.labels)] = np.arange(len(classes.labels))
    labels = position[part.labels]
    return ImagePart(part.inputs, labels).only(labels >= 0)
