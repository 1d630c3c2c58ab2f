"""Estimates of a model's risk from its margins."""

import numpy as np
from numpy.typing import NDArray

from harness.protocols.overfit.settings import Generator
from harness.protocols.parts import Arrays
from scoring import RiskEstimates, nearest_translation, strongest_translation


def estimates_of(part: Arrays, radius: int, generator: Generator) -> RiskEstimates:
    """Return the estimates with shifts by at most `radius`.

    Args:
        part: margins for radii with this one among them, see `harness.protocols.overfit.margins`.
        radius: epsilon.
        generator: of adversarial examples.
    """
    make = strongest_translation if generator is Generator.STRONGEST else nearest_translation
    return make(radius).estimates(_cut(part, radius))


def _cut(part: Arrays, radius: int) -> NDArray[np.float32]:
    """Return the margins of all shifts by at most 3 * radius, shape (n_images, 6 * radius + 1, 6 * radius + 1).

    Those that were not needed, and so not computed, decide nothing: here they count as correct.
    """
    near, far = part["near"], part["far"]
    largest, side = far.shape[1] // 6, 6 * radius + 1
    grid = np.full((len(near), side, side), -np.inf, np.float32)
    inner = slice(3 * (largest - radius), 3 * (largest - radius) + side)
    cut = far[:, inner, inner]
    grid[part["far_images"]] = np.where(np.isnan(cut), -np.inf, cut)
    return grid
