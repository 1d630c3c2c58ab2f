"""Adversarial examples by translation: the target of each image under a generator, and its density.

Section 4 of Werpachowski et al. (2019), arXiv 1903.02380 (`scoring.overfitting`). An image is represented by the
margins of its translations, over a square of shifts of at most three times the generator's radius: the largest logit of
a wrong class minus the logit of the label. A translation is misclassified if its margin is positive.
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

#: Maximum number of elements that are compared at once, to bound the memory.
_NUMBERS = 2**24


@dataclass(frozen=True)
class AdversarialGenerator:
    """A deterministic generator: correctly classified images may move within a radius, others stay."""

    radius: int  #: largest shift in rows and in columns, in pixels
    #: margins of the candidates (shifts within `radius`), shape (..., side, side) -> row-major position of one of them
    choose: Callable[[Margins], NDArray[np.intp]]

    @property
    def side(self) -> int:
        """Number of candidates in a row, the unmoved image included."""
        return 2 * self.radius + 1

    def estimates(self, margins: ArrayLike) -> RiskEstimates:
        """Return the estimates of a model's risk.

        Args:
            margins: of all translations, shape (n_images, 6 * radius + 1, 6 * radius + 1); the unmoved image is in the
                middle. Rows from top to bottom, columns from left to right.

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
        movable = np.flatnonzero((near > 0).any(axis=(1, 2)))  # other images stay in place, and are correct
        at_once = max(1, _NUMBERS // (4 * self.radius + 1) ** 2 // self.side**2)
        for first in range(0, len(movable), at_once):
            images = movable[first : first + at_once]
            moved_losses[images], densities[images] = self._move(grid[images])
        return RiskEstimates.of(losses, moved_losses, densities)

    def moves(self, windows: Margins) -> NDArray[np.intp]:
        """Return the candidate to which the image in the middle of each window moves, as a position in row-major order.

        Args:
            windows: margins of the candidates, shape (..., side, side).
        """
        own = windows[..., self.radius, self.radius]
        stays = (own > 0) | ~(windows > 0).any(axis=(-2, -1))
        chosen: NDArray[np.intp] = np.where(stays, self.side * self.radius + self.radius, self.choose(windows))
        return chosen

    def _move(self, grid: Margins) -> tuple[NDArray[np.bool_], Vector]:
        """Return for each image whether its target is misclassified, and the density there (`RiskEstimates`)."""
        moves_to = self._targets(grid)  # for shifts of at most twice the radius
        target = moves_to[:, moves_to.shape[1] // 2, moves_to.shape[2] // 2]
        arriving = _arriving(moves_to, target, self.radius, grid.shape[1])
        wrong = np.take_along_axis(grid.reshape(len(grid), -1), target[:, None], axis=1)[:, 0] > 0
        return wrong, 1 / (1 + arriving)

    def _targets(self, grid: Margins) -> NDArray[np.intp]:
        """Return for each shift of at most twice the radius its target under the generator, as a flat position."""
        windows = sliding_window_view(grid, (self.side, self.side), axis=(1, 2))
        rows, columns = np.divmod(self.moves(windows), self.side)
        first = np.arange(windows.shape[1])
        targets: NDArray[np.intp] = (rows + first[:, None]) * grid.shape[2] + columns + first[None, :]
        return targets


def strongest_translation(radius: int) -> AdversarialGenerator:
    """Move to the candidate with the largest margin; among equals, the first in row-major order."""
    return AdversarialGenerator(radius, lambda windows: np.argmax(_in_a_row(windows), axis=-1))


def nearest_translation(radius: int) -> AdversarialGenerator:
    """Move to the misclassified candidate at the smallest distance; among equals, the first in row-major order."""
    shifts = np.arange(-radius, radius + 1)
    distances = np.hypot(shifts[:, None], shifts[None, :])

    def choose(windows: Margins) -> NDArray[np.intp]:
        far = np.where(windows > 0, distances, np.inf)
        chosen: NDArray[np.intp] = np.argmin(_in_a_row(far), axis=-1)
        return chosen

    return AdversarialGenerator(radius, choose)


def _in_a_row(windows: Margins) -> Margins:
    """Return the numbers of each window (..., side, side) in row-major order, (..., side * side)."""
    return windows.reshape(*windows.shape[:-2], windows.shape[-2] * windows.shape[-1])


def _arriving(moves_to: NDArray[np.intp], target: NDArray[np.intp], radius: int, side: int) -> NDArray[np.intp]:
    """Return for each image how many points, except the target itself, the generator moves onto the image's target."""
    shifts = radius + np.arange(moves_to.shape[1])  # positions in the grid of the points that `moves_to` knows
    rows, columns = np.divmod(target, side)
    near = (abs(shifts - rows[:, None]) <= radius)[:, :, None] & (abs(shifts - columns[:, None]) <= radius)[:, None, :]
    itself = shifts[:, None] * side + shifts[None, :] == target[:, None, None]
    arrives = (moves_to == target[:, None, None]) & near & ~itself
    number: NDArray[np.intp] = np.sum(arrives, axis=(1, 2))
    return number


def needed_shifts(margins: Margins, generators: Sequence[AdversarialGenerator]) -> Mask:
    """Return the shifts whose margins `AdversarialGenerator.estimates` needs, as far as the known margins tell.

    The candidates are needed first; then the points that the generator may move to the same target as the image; and
    then the candidates of those points that are classified correctly. In `estimates`, other margins may be any number.

    Args:
        margins: shape (n_images, side, side), NaN where unknown; side is 6 * radius + 1 for the largest radius.
        generators: the generators of the wanted estimates.

    Returns:
        Which margins must be known, of the same shape. When all are known, nothing more is needed.
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
    """Return the mask of all points within `radius`, in rows and in columns, of a point of the mask."""
    for axis in (1, 2):
        source = np.moveaxis(mask, axis, 0)
        wide = source.copy()
        for distance in range(1, radius + 1):
            wide[distance:] |= source[:-distance]
            wide[:-distance] |= source[distance:]
        mask = np.moveaxis(wide, 0, axis)
    return mask
