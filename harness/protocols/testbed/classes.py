"""Seen and unseen classes, and the numbers of unseen ones that are evaluated."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from harness.errors import UserError
from harness.protocols.testbed.images import ImagePart, Images, Labels

#: Most numbers of unseen classes by default, as in the paper.
LEVELS = 6


@dataclass(frozen=True)
class Classes:
    """The classes of a testbed."""

    labels: tuple[int, ...]  #: those of the dataset, the seen ones first, each ascending
    n_seen: int  #: number of seen classes
    levels: tuple[int, ...]  #: numbers of unseen classes, ascending from 0; the first unseen ones are added

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of unseen classes at each level, in [0, 1)."""
        return tuple(level / (self.n_seen + level) for level in self.levels)

    def positions(self, labels: Labels) -> Labels:
        """Return the position in `labels` of the class of each example, -1 for none."""
        position = np.full(max(*self.labels, int(labels.max())) + 1, -1, np.int32)
        position[list(self.labels)] = np.arange(len(self.labels))
        return np.asarray(position[labels])


def divide_classes(images: Images, seen: Collection[int], levels: tuple[int, ...] | None, data: str) -> Classes:
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


def of_classes(part: ImagePart, classes: Classes) -> ImagePart:
    """Return the images of these classes, labelled by their positions in `classes.labels`."""
    positions = classes.positions(part.labels)
    return ImagePart(part.inputs, positions).only(positions >= 0)
