"""Baselines of the generators by translation: those that move images at random, wherever the model errs.

Section 5.2 and eq. 9 of Werpachowski et al. (2019), arXiv 1903.02380. They detect less than the generators of
`scoring.translations`, because few of their moves find an error.
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from scoring.overfitting import RiskEstimates
from scoring.translations import checked_margins


@dataclass(frozen=True)
class RandomGenerator:
    """A generator that moves each correctly classified image to one of its translations, all with one probability.

    Attributes:
        radius: largest shift in rows and in columns, in pixels.
        may_stay: whether the unmoved image is one of them.
    """

    radius: int
    may_stay: bool

    @property
    def shifts(self) -> NDArray[np.intp]:
        """The shifts that may be drawn, in rows and columns, shape (n_shifts, 2), in row-major order."""
        one = np.arange(-self.radius, self.radius + 1)
        everything = np.stack(np.meshgrid(one, one, indexing="ij"), axis=-1).reshape(-1, 2)
        return everything if self.may_stay else everything[everything.any(axis=1)]

    def draw(self, n_images: int, random: np.random.Generator) -> NDArray[np.intp]:
        """Return the position in `shifts` of a random shift for each image, shape (n_images,)."""
        return random.integers(len(self.shifts), size=n_images)

    def estimates(self, margins: ArrayLike, drawn: ArrayLike) -> RiskEstimates:
        """Return the estimates of a model's risk.

        The density is 1 / (1 + the expected number of other points that move onto the point).

        Args:
            margins: as for `AdversarialGenerator.estimates`, shape (n_images, 6 * radius + 1, 6 * radius + 1).
            drawn: the drawn shift of each image, a position in `shifts`, shape (n_images,).

        Raises:
            ValueError: other shapes, or a margin is not a number.
        """
        grid = checked_margins(margins, self.radius)
        positions = np.asarray(drawn, dtype=np.intp)
        if positions.shape != (len(grid),):
            raise ValueError(f"drawn: expected shape ({len(grid)},), found {positions.shape}")
        images, middle, side = np.arange(len(grid)), 3 * self.radius, 2 * self.radius + 1
        wrong = grid > 0
        losses = wrong[:, middle, middle]
        rows, columns = np.where(losses, 0, self.shifts[positions].T)
        moved_losses = wrong[images, middle + rows, middle + columns]
        # Misclassified points stay, so that only correct neighbours can arrive.
        neighbours = sliding_window_view(~wrong, (side, side), axis=(1, 2))
        near = neighbours[images, 2 * self.radius + rows, 2 * self.radius + columns]
        arriving = near.sum(axis=(1, 2)) / len(self.shifts)
        return RiskEstimates.of(losses, moved_losses, 1 / (1 + arriving))


def random_translation(radius: int) -> RandomGenerator:
    """Move to any translation but the image itself (`random` in the paper)."""
    return RandomGenerator(radius, may_stay=False)


def random_translation_or_none(radius: int) -> RandomGenerator:
    """Move to any translation, or to none (`random2` in the paper)."""
    return RandomGenerator(radius, may_stay=True)
