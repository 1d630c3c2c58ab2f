"""The translations of an image whose margins decide its estimates: far fewer than all, if found step by step."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.translations import AdversarialGenerator, Margins

Mask = NDArray[np.bool_]


def needed_shifts(margins: Margins, generators: Sequence[AdversarialGenerator]) -> Mask:
    """Return the shifts that are needed, as far as the margins that are known tell.

    First of all the candidates; then the points from which the generator may reach the same point as from the image;
    and then the candidates of those of them that are classified correctly. Margins that are never needed may have any
    value (`AdversarialGenerator.estimates` takes no NaN).

    Args:
        margins: shape (n_images, side, side), NaN where unknown; side is 6 * radius + 1 for the largest radius.
        generators: those whose estimates are wanted.

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
        sources = _around(target, generator.radius)
        needed |= sources | _around(sources & (margins <= 0), generator.radius)
    return needed


def _around(mask: Mask, radius: int) -> Mask:
    """Return the squares of points within `radius` of the points of a mask."""
    for axis in (1, 2):
        source = np.moveaxis(mask, axis, 0)
        wide = source.copy()
        for distance in range(1, radius + 1):
            wide[distance:] |= source[:-distance]
            wide[:-distance] |= source[distance:]
        mask = np.moveaxis(wide, 0, axis)
    return mask
