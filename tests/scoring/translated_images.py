"""Margins of translations of made-up images."""

import numpy as np


def around(centre_margins: np.ndarray, radius: int) -> np.ndarray:
    """One image with these margins in the middle of the grid, and correct translations elsewhere."""
    grid = np.full((1, 6 * radius + 1, 6 * radius + 1), -1.0)
    first = 3 * radius - centre_margins.shape[0] // 2
    grid[0, first : first + centre_margins.shape[0], first : first + centre_margins.shape[1]] = centre_margins
    return grid


def on_a_torus(margins: np.ndarray, radius: int) -> np.ndarray:
    """The grids of all images of a space in which translations are cyclic."""
    size, shifts = len(margins), np.arange(-3 * radius, 3 * radius + 1)
    rows, columns = np.divmod(np.arange(size * size), size)
    return margins[(rows[:, None, None] + shifts[:, None]) % size, (columns[:, None, None] + shifts[None, :]) % size]
