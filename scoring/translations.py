"""Adversarial examples by translation: where a generator moves each image, and the weight of the moved image.

The margin of an image is the largest logit of a wrong class minus the logit of the label; a positive margin means a
misclassified image. All functions work on the margins of an image's translations.

Source: Werpachowski et al. (2019), arXiv 1903.02380, section 4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from scoring.overfitting import RiskEstimates
from scoring.vectors import Vector

Margins = NDArray[np.floating]
Mask = NDArray[np.bool_]

_NUMBERS = 2**24  #: largest number of elements in memory at once


@dataclass(frozen=True)
class AdversarialGenerator:
    """A deterministic rule that replaces an image by a misclassified translation of itself.

    The candidates are the image's translations by at most `radius`. A misclassified image, or an image without a
    misclassified candidate, stays in place.
    """

    radius: int  #: largest shift in rows and in columns, in pixels
    #: margins of the candidates (..., side, side) -> row-major position of the chosen candidate (...)
    choose: Callable[[Margins], NDArray[np.intp]]

    @property
    def side(self) -> int:
        """Number of candidate translations along each axis, with the unmoved image."""
        return 2 * self.radius + 1

    def estimates(self, margins: ArrayLike) -> RiskEstimates:
        """Return a model's losses on the test images and on the moved images, and the weights of the moved images.

        Args:
            margins: margins of all translations by at most 3 * radius, with the unmoved image in the middle, shape
                (n_images, 6 * radius + 1, 6 * radius + 1). Rows go from top to bottom, columns from left to right.

        Raises:
            ValueError: another shape, or a margin is not a number.
        """
        grid, middle, width = np.asarray(margins), 3 * self.radius, 6 * self.radius + 1
        if grid.ndim != 3 or grid.shape[1:] != (width, width):
            raise ValueError(f"margins: expected shape (n_images, {width}, {width}), found {grid.shape}")
        if np.isnan(grid).any():
            raise ValueError("margins: expected numbers, found NaN")
        losses = grid[:, middle, middle] > 0
        moved_losses, densities = losses.copy(), np.ones(len(grid))
        near = grid[:, middle - self.radius : middle + self.radius + 1, middle - self.radius : middle + self.radius + 1]
        movable = np.flatnonzero((near > 0).any(axis=(1, 2)))  # the others are classified correctly, and stay in place
        at_once = max(1, _NUMBERS // (4 * self.radius + 1) ** 2 // self.side**2)
        for first in range(0, len(movable), at_once):
            images = movable[first : first + at_once]
            moved_losses[images], densities[images] = self._move(grid[images])
        return RiskEstimates.of(losses, moved_losses, densities)

    def moves(self, windows: Margins) -> NDArray[np.intp]:
        """Return to which candidate the generator moves each image.

        `windows` holds the margins of each image's candidates, shape (..., side, side), with the image itself in the
        middle. The result is a row-major position in the window, shape (...).
        """
        own = windows[..., self.radius, self.radius]
        stays = (own > 0) | ~(windows > 0).any(axis=(-2, -1))
        return np.where(stays, self.side * self.radius + self.radius, self.choose(windows))

    def _move(self, grid: Margins) -> tuple[NDArray[np.bool_], Vector]:
        """Return for each moved image whether it is misclassified, and its weight in the risk estimate."""
        moves_to = self._targets(grid)  # for all shifts by at most twice the radius
        target = moves_to[:, moves_to.shape[1] // 2, moves_to.shape[2] // 2]
        arriving = _arriving(moves_to, target, self.radius, grid.shape[1])
        wrong = np.take_along_axis(grid.reshape(len(grid), -1), target[:, None], axis=1)[:, 0] > 0
        return wrong, 1 / (1 + arriving)

    def _targets(self, grid: Margins) -> NDArray[np.intp]:
        """Return to which translation the generator moves each image's translations by at most 2 * radius.

        The result has row-major positions in `grid`.
        """
        windows = sliding_window_view(grid, (self.side, self.side), axis=(1, 2))
        rows, columns = np.divmod(self.moves(windows), self.side)
        first = np.arange(windows.shape[1])
        return (rows + first[:, None]) * grid.shape[2] + columns + first[None, :]


def strongest_translation(radius: int) -> AdversarialGenerator:
    """Return the generator that chooses the largest margin; among equal margins, the first in row-major order."""
    return AdversarialGenerator(radius, lambda windows: np.argmax(_in_a_row(windows), axis=-1))


def nearest_translation(radius: int) -> AdversarialGenerator:
    """Return the generator that chooses the nearest misclassified candidate.

    Of several equally near candidates, it chooses the first in row-major order.
    """
    shifts = np.arange(-radius, radius + 1)
    distances = np.hypot(shifts[:, None], shifts[None, :])

    def choose(windows: Margins) -> NDArray[np.intp]:
        far = np.where(windows > 0, distances, np.inf)
        return np.argmin(_in_a_row(far), axis=-1)

    return AdversarialGenerator(radius, choose)


def _in_a_row(windows: Margins) -> Margins:
    return windows.reshape(*windows.shape[:-2], windows.shape[-2] * windows.shape[-1])


def _arriving(moves_to: NDArray[np.intp], target: NDArray[np.intp], radius: int, side: int) -> NDArray[np.intp]:
    """Return for each image how many translations, except `target` itself, the generator moves onto `target`."""
    shifts = radius + np.arange(moves_to.shape[1])  # positions of the translations of `moves_to` in the grid of margins
    rows, columns = np.divmod(target, side)
    near = (abs(shifts - rows[:, None]) <= radius)[:, :, None] & (abs(shifts - columns[:, None]) <= radius)[:, None, :]
    itself = shifts[:, None] * side + shifts[None, :] == target[:, None, None]
    arrives = (moves_to == target[:, None, None]) & near & ~itself
    return np.sum(arrives, axis=(1, 2))


def needed_shifts(margins: Margins, generators: Sequence[AdversarialGenerator]) -> Mask:
    """Return the mask of the margins that `AdversarialGenerator.estimates` needs, as far as known margins determine it.

    The candidates of each image are needed first; they determine the moved image. Next come the translations that the
    generator may move onto the moved image, and the candidates of those translations that are classified correctly.

    `margins` is NaN where unknown, shape (n_images, side, side); side is 6 * radius + 1 for the largest radius. The
    result has the same shape, and is true for all needed margins, known or unknown.
    """
    needed = np.zeros(margins.shape, bool)
    middle = margins.shape[1] // 2
    reach = max(one.radius for one in generators)
    needed[:, middle - reach : middle + reach + 1, middle - reach : middle + reach + 1] = True
    if np.isnan(margins[needed]).any():
        return needed
    for generator in generators:
        corner = middle - generator.radius
        candidates = slice(corner, corner + generator.side)
        windows = margins[:, candidates, candidates]
        movable = np.flatnonzero((windows > 0).any(axis=(1, 2)))
        rows, columns = np.divmod(generator.moves(windows[movable]), generator.side)
        target = np.zeros_like(needed)
        target[movable, corner + rows, corner + columns] = True
        sources = _dilated(target, generator.radius)
        needed |= sources | _dilated(sources & (margins <= 0), generator.radius)
    return needed


def _dilated(mask: Mask, radius: int) -> Mask:
    for axis in (1, 2):
        source = np.moveaxis(mask, axis, 0)
        wide = source.copy()
        for distance in range(1, radius + 1):
            wide[distance:] |= source[:-distance]
            wide[:-distance] |= source[distance:]
        mask = np.moveaxis(wide, 0, axis)
    return mask
