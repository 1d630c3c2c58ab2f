"""Estimates of a model's risk from its margins."""

import numpy as np
from numpy.typing import NDArray

from harness.protocols.overfit.settings import Generator, Settings
from harness.protocols.parts import Arrays
from scoring import (
    RiskEstimates,
    nearest_translation,
    random_translation,
    random_translation_or_none,
    strongest_translation,
)
from scoring.streams import stream


def estimates_of(part: Arrays, radius: int, settings: Settings, model_digest: str) -> RiskEstimates:
    """Return the estimates with shifts by at most `radius`.

    Args:
        part: margins for radii with this one among them, see `harness.protocols.overfit.margins`.
        radius: epsilon.
        settings: generator and seed.
        model_digest: SHA-256 (hex), so that the random draws of models differ.
    """
    margins = _cut(part, radius)
    if settings.generator is Generator.STRONGEST:
        return strongest_translation(radius).estimates(margins)
    if settings.generator is Generator.NEAREST:
        return nearest_translation(radius).estimates(margins)
    is_first = settings.generator is Generator.RANDOM
    generator = random_translation(radius) if is_first else random_translation_or_none(radius)
    random = stream("random translations", settings.seed, radius, model_digest)
    return generator.estimates(margins, generator.draw(len(margins), random))


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
