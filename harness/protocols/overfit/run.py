"""Tests the models of a task for overfitting."""

from collections.abc import Callable
from dataclasses import replace

from harness.errors import UserError
from harness.protocols.overfit.estimates import estimates_of
from harness.protocols.overfit.grids import compute_grids
from harness.protocols.overfit.result import OverfitResult, OverfitRow, groups_of, make_row
from harness.protocols.overfit.settings import OverfitSettings, possible_radii
from harness.protocols.parts import read_part
from harness.protocols.subject import StudiedTask
from scoring import RiskEstimates

#: The defaults: adversarial examples by the strongest translation, on the test set.
DEFAULT = OverfitSettings()


def detect_overfitting(
    subject: StudiedTask, settings: OverfitSettings = DEFAULT, on_model: Callable[[], object] = lambda: None
) -> OverfitResult:
    """Test each model, the models of each architecture together, and all models together.

    Models of one architecture differ in seeds or in their training. Finished models are kept in the cache.

    Args:
        subject: task and models, see `harness.protocols.subject.read_subject`.
        settings: the choices; without radii, the default ones that the images allow.
        on_model: called once for each model.

    Raises:
        UserError: the task has no such data, its inputs are no images, a radius is too large, or no framework is
            installed.
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
    rows: list[OverfitRow] = []
    for group in groups:
        for radius in settings.radii:
            own = [estimates[model, radius] for model in group.models]
            rows.append(make_row(group, radius, own))
    notes = tuple(grids.positions.notes(settings.radii))
    return OverfitResult(subject.task.name, settings, tuple(rows), grids.failures, notes)
