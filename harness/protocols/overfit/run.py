"""Tests whether the models of a task were fitted to the task's test set."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.protocols.files import Arrays, read_part
from harness.protocols.overfit.grids import compute_grids
from harness.protocols.overfit.report import OverfitResult
from harness.protocols.overfit.rows import groups_of, make_row
from harness.protocols.overfit.settings import Generator, OverfitSettings, possible_radii
from harness.protocols.subject import StudiedTask
from scoring import RiskEstimates, nearest_translation, strongest_translation


def detect_overfitting(
    subject: StudiedTask, settings: OverfitSettings, on_model: Callable[[], object] = lambda: None
) -> OverfitResult:
    """Test each model, the models of each architecture together, and all models together.

    Margins of finished models are kept in the cache. `on_model` is called after each model. Raise `UserError` if the
    task has no data of `settings.split`, its inputs are no images, a radius is too large, or no framework is installed.
    """
    settings = replace(settings, radii=possible_radii(settings.radii, subject.models[0].input_shape))
    grids = compute_grids(subject, settings, on_model)
    estimates: dict[tuple[str, int], RiskEstimates] = {}
    for model in subject.models:
        if model.id in grids.parts:
            part = read_part(grids.parts[model.id])
            if part is None:
                raise UserError("cannot be read", file=grids.parts[model.id], remedy="run the same command again")
            for radius in settings.radii:
                estimates[model.id, radius] = estimates_of(part, radius, settings.generator)
    groups = groups_of({m.id: m.architecture.digest for m in subject.models if m.id in grids.parts})
    rows = tuple(
        make_row(group, radius, [estimates[model, radius] for model in group.models])
        for group in groups
        for radius in settings.radii
    )
    notes = tuple(grids.positions.notes(settings.radii))
    return OverfitResult(subject.task.name, settings, rows, grids.failures, notes)


def estimates_of(part: Arrays, radius: int, generator: Generator) -> RiskEstimates:
    """Return a model's losses on original and shifted images, from its margins (`overfit.margins`)."""
    make = strongest_translation if generator is Generator.STRONGEST else nearest_translation
    return make(radius).estimates(_cut(part, radius))


def _cut(part: Arrays, radius: int) -> NDArray[np.float32]:
    """Return the margins for shifts by at most 3 * radius; minus infinity where they are not needed."""
    near, far = part["near"], part["far"]
    largest, side = far.shape[1] // 6, 6 * radius + 1
    grid = np.full((len(near), side, side), -np.inf, np.float32)
    inner = slice(3 * (largest - radius), 3 * (largest - radius) + side)
    cut = far[:, inner, inner]
    grid[part["far_images"]] = np.where(np.isnan(cut), -np.inf, cut)
    return grid
